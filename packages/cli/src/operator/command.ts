import { create, type DescMessage, type Message, toJson as toMessageJson } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import {
  MethodOptions_IdempotencyLevel as Idempotency,
  type Timestamp,
  TimestampSchema,
  timestampFromDate,
} from '@bufbuild/protobuf/wkt';
import type { Command } from 'commander';
import { toJson } from '../commands/command.ts';
import {
  addUserOptions,
  chooseUser,
  jsonOption,
  pageOption,
  parseNotEmpty,
  reasonOption,
  type UserOptions,
} from '../options.ts';
import type { Surrounded } from '../shell.ts';
import { toTable } from '../terminal.ts';
import { type Columns, GROUPS, OPERATOR_COMMANDS, type OperatorCommand } from './commands.ts';
import { callAsOperator, type OperatedService, PAGE_SIZE, toInstant } from './connection.ts';

/** Adds the commands of the table. */
export function addOperatorCommands(program: Command, surrounded: Surrounded): void {
  for (const [name, description] of Object.entries(GROUPS)) {
    const group = program.command(name).description(description);
    for (const row of OPERATOR_COMMANDS.filter((each) => each.name.startsWith(`${name} `)))
      addOperatorCommand(group, row, surrounded);
  }
}

interface GivenOptions extends UserOptions {
  readonly json: boolean;
  readonly page?: number;
  readonly reason?: string;
  readonly [name: string]: unknown;
}

function addOperatorCommand(
  group: Command,
  row: OperatorCommand,
  { finish, withServices }: Surrounded,
): void {
  const { rpc, options = {} } = row;
  const command = group.command(row.name.split(' ')[1] ?? '').description(row.does);
  if (row.argument !== undefined) {
    const [field, description] = row.argument;
    command.argument(`<${field.replace('Id', '-id')}>`, description, parseNotEmpty);
  }
  if (row.user !== undefined) addUserOptions(command, row.user);
  for (const option of Object.values(options)) command.addOption(option);
  if (rpc.input.field['page'] !== undefined && row.argument === undefined) command.addOption(pageOption());
  if (rpc.idempotency !== Idempotency.NO_SIDE_EFFECTS) command.addOption(reasonOption(row.reason));
  command.addOption(jsonOption('the answer')).action(async (...[first]: unknown[]) => {
    const given = command.opts<GivenOptions>();
    const fields: Record<string, unknown> = { ...row.fields };
    if (row.argument !== undefined) fields[row.argument[0]] = first;
    if (row.user !== undefined) fields['userId'] = chooseUser(given, command).userId;
    for (const [field, option] of Object.entries(options)) fields[field] = given[option.attributeName()];
    if (rpc.input.field['reason'] !== undefined) fields['reason'] = given.reason;
    if (given.page !== undefined) fields['page'] = { page: given.page, pageSize: PAGE_SIZE };
    finish(await run(row, fields, given, withServices));
  });
}

/** Calls the rpc and prints its answer. Returns the exit code. */
function run(
  row: OperatorCommand,
  fields: Readonly<Record<string, unknown>>,
  { json, reason, page = 1 }: GivenOptions,
  withServices: Surrounded['withServices'],
): Promise<number> {
  const { rpc } = row;
  // `phds.consent.v1.…` is a service of consent.
  const service = rpc.parent.typeName.split('.')[1] as OperatedService;
  return callAsOperator([service, rpc.parent], json, withServices([service], reason), async (client) => {
    const more = await row.complete?.(client as never, fields['clientId'] as string);
    const request = toRequest(rpc.input, { ...fields, ...more });
    const call = (client as Record<string, unknown>)[rpc.localName] as (sent: Message) => Promise<Message>;
    const answer = await call(request);
    if (json) return toJson(toDocument(rpc.output, answer));
    return row.done === undefined ? toText(reflect(rpc.output, answer), row, page) : `${row.done}\n`;
  });
}

/** Enums are given by their names in lower case, times as dates. */
function toRequest(schema: DescMessage, fields: Readonly<Record<string, unknown>>): Message {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const values = given.map(([name, value]) => {
    const values = schema.field[name]?.enum?.values;
    if (values !== undefined)
      return [name, values.find((each) => each.localName.toLowerCase() === value)?.number];
    return [name, value instanceof Date ? timestampFromDate(value) : value];
  });
  return create(schema, Object.fromEntries(values));
}

/** The JSON of an answer, with the fields that are zero or empty. */
export function toDocument(schema: DescMessage, answer: Message): object {
  return toMessageJson(schema, answer, { alwaysEmitImplicit: true }) as object;
}

/** What is printed of an answer, which is page `page` of a list. */
export function toText(
  answer: ReflectMessage,
  { prints, columns = {}, argument }: Pick<OperatorCommand, 'prints' | 'columns' | 'argument'>,
  page: number,
): string {
  const field = prints === undefined ? undefined : answer.desc.field[prints];
  if (field?.fieldKind === 'list') {
    const items = [...answer.get(field)] as ReflectMessage[];
    if (argument !== undefined) return items.map((item) => toList(item, columns)).join('');
    const total = Number(toCell(answer, 'total'));
    const rows = items.map((item) => Object.values(columns).map((path) => toCell(item, path)));
    const pages = `Page ${page} of ${Math.max(1, Math.ceil(total / PAGE_SIZE))}, ${total} in total.\n`;
    return `${toTable([Object.keys(columns), ...rows])}${pages}`;
  }
  return toList(field === undefined ? answer : (answer.get(field) as ReflectMessage), columns);
}

/** A line for each field that has a value. */
function toList(message: ReflectMessage, columns: Columns): string {
  const cells = Object.entries(columns).map(([heading, path]) => [heading, toCell(message, path)]);
  return toTable(cells.filter(([, text]) => text !== ''));
}

/** The text of a field, which may be in a message of the message: `app.lock.kind`. Empty when it is absent. */
function toCell(message: ReflectMessage, path: string): string {
  const [name = '', ...rest] = path.split('.');
  const field = message.desc.field[name];
  if (field === undefined || (field.fieldKind === 'message' && !message.isSet(field))) return '';
  const value: unknown = message.get(field);
  if (field.fieldKind === 'list') return [...(value as Iterable<unknown>)].join(' ');
  if (field.fieldKind === 'enum') return (field.enum.value[value as number]?.localName ?? '').toLowerCase();
  if (field.fieldKind !== 'message') return String(value);
  const inner = value as ReflectMessage;
  if (inner.desc.typeName === TimestampSchema.typeName) return toInstant(inner.message as Timestamp);
  return toCell(inner, rest.join('.'));
}
