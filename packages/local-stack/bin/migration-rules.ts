import { loadModule, type ParseResult, parseSync } from 'libpg-query';

/*
 * What a migration may do while the earlier release runs (docs/operations/upgrade-and-release.md). A statement that these rules refuse needs a
 * comment of its own above it:
 *
 *   -- contract: nothing uses app.legacy_name since 0.4.0     for what takes something away
 *   -- locks: notice_cursor has one row                       for what holds a lock while it reads or writes rows
 */
export interface Violation {
  /** Line of the statement, from 1. */
  readonly line: number;
  readonly statement: string;
  /** The comment that would allow it; null when nothing does. */
  readonly marker: 'contract' | 'locks' | null;
}

type Marker = Violation['marker'];

const CONTRACT: readonly Marker[] = ['contract'];
const LOCKS: readonly Marker[] = ['locks'];
const NEVER: readonly Marker[] = [null];
const FREE: readonly Marker[] = [];

// biome-ignore lint/suspicious/noExplicitAny: the tree of the parser, whose nodes are read by their names
type Node = any;

/** What the migration has done before the statement. */
interface Before {
  readonly createdTables: ReadonlySet<string>;
  /** Text of its DO blocks. */
  readonly blocks: readonly string[];
  /** Whether the migration has no other statement. */
  readonly isAlone: boolean;
}

/** Lists what the migration does that the earlier release, or a service under load, cannot bear. */
export async function findViolations(sql: string): Promise<Violation[]> {
  await loadModule();
  const source = Buffer.from(sql);
  const createdTables = new Set<string>();
  const blocks: string[] = [];
  const violations: Violation[] = [];
  let start = 0;
  const { stmts = [] }: ParseResult = parseSync(sql);
  for (const { stmt, stmt_location: at = 0, stmt_len: length } of stmts as Node[]) {
    const end = length === undefined ? source.length : at + length;
    // The comments before a statement belong to it.
    const text = source.toString('utf8', start, end);
    const [comments = ''] = text.match(/^(\s|--[^\n]*(\n|$))*/) ?? [];
    const line = `${source.toString('utf8', 0, start)}${comments}`.split('\n').length;
    start = end + 1;
    const before = { createdTables, blocks, isAlone: stmts.length === 1 };
    for (const marker of new Set([...judge(stmt, before), ...judgeCtes(stmt, before)])) {
      if (isAllowed(comments, marker)) continue;
      violations.push({ line, statement: text.slice(comments.length), marker });
    }
    if (stmt.CreateStmt) createdTables.add(nameOf(stmt.CreateStmt.relation));
    if (stmt.DoStmt) blocks.push(bodyOf(stmt.DoStmt));
  }
  return violations;
}

const NAMES_A_RELEASE = /^[ \t]*-- contract: .*\bsince v?\d+\.\d+\.\d+/m;
const SAYS_WHY = /^[ \t]*-- locks: \S.*/m;

function isAllowed(comments: string, marker: Marker): boolean {
  return marker !== null && (marker === 'contract' ? NAMES_A_RELEASE : SAYS_WHY).test(comments);
}

/** A table named without its schema is in the schema of the service. */
function nameOf({ schemaname, relname }: Node): string {
  return schemaname === undefined ? relname : `${schemaname}.${relname}`;
}

function bodyOf({ args }: Node): string {
  return args.map(({ DefElem }: Node) => DefElem.arg?.String?.sval ?? '').join('\n');
}

/** The comments that a statement needs. */
function judge(stmt: Node, before: Before): readonly Marker[] {
  const { createdTables } = before;
  const [kind = '', node] = Object.entries<Node>(stmt)[0] ?? [];
  switch (kind) {
    case 'RenameStmt':
    case 'AlterObjectSchemaStmt':
    case 'AlterPolicyStmt':
    case 'TruncateStmt':
      return CONTRACT;
    case 'LockStmt':
      return LOCKS;
    // Each migration runs in a transaction of its own.
    case 'TransactionStmt':
      return NEVER;
    // The migration command sets the limit for locks.
    case 'VariableSetStmt':
    case 'SelectStmt':
      return JSON.stringify(node).includes('"lock_timeout"') ? NEVER : FREE;
    case 'AlterEnumStmt':
      return node.oldVal ? CONTRACT : FREE;
    case 'UpdateStmt':
    case 'DeleteStmt':
    case 'MergeStmt':
      return createdTables.has(nameOf(node.relation)) ? FREE : LOCKS;
    case 'CreatePolicyStmt':
      return node.permissive || createdTables.has(nameOf(node.table)) ? FREE : CONTRACT;
    case 'GrantStmt':
      return node.is_grant || takesFromOwnTables(node, createdTables) ? FREE : CONTRACT;
    case 'CreateStmt':
      return judgePartition(node, createdTables);
    case 'AlterTableStmt':
      return node.cmds.flatMap(({ AlterTableCmd }: Node) =>
        judgeCommand(AlterTableCmd, nameOf(node.relation), createdTables),
      );
    case 'IndexStmt':
      return judgeIndex(node, before);
    case 'DropStmt':
      return judgeDrop(node, before);
    case 'DoStmt':
      return judgeBlock(bodyOf(node));
    default:
      return FREE;
  }
}

function takesFromOwnTables({ objects = [] }: Node, createdTables: ReadonlySet<string>): boolean {
  return objects.every(({ RangeVar }: Node) => RangeVar && createdTables.has(nameOf(RangeVar)));
}

/** A new partition of an existing table locks the table, and may read its default partition. */
function judgePartition(
  { partbound, inhRelations = [] }: Node,
  createdTables: ReadonlySet<string>,
): readonly Marker[] {
  if (partbound === undefined) return FREE;
  return createdTables.has(nameOf(inhRelations[0].RangeVar)) ? FREE : LOCKS;
}

function judgeIndex(
  { idxname, relation, if_not_exists: mayExist, concurrent }: Node,
  before: Before,
): readonly Marker[] {
  if (concurrent) return judgeConcurrent(mayExist, before);
  if (before.createdTables.has(nameOf(relation))) return FREE;
  const isChecked = before.blocks.some((text) => text.includes('indisvalid') && text.includes(idxname));
  return mayExist && isChecked ? FREE : LOCKS;
}

/** It runs without a transaction, and again after an interruption: alone in a migration, and with IF [NOT] EXISTS. */
function judgeConcurrent(isRepeatable: boolean, { isAlone }: Before): readonly Marker[] {
  return isAlone && isRepeatable ? FREE : NEVER;
}

function judgeDrop({ removeType, concurrent, missing_ok: mayLack }: Node, before: Before): readonly Marker[] {
  // ON CONFLICT of the earlier release may name the index.
  if (concurrent) return [...judgeConcurrent(mayLack, before), ...CONTRACT];
  // Only plans of queries depend on extended statistics.
  return removeType === 'OBJECT_STATISTIC_EXT' ? FREE : CONTRACT;
}

/** Blocks are not parsed: those that may change something need a reason. */
function judgeBlock(body: string): readonly Marker[] {
  const code = body.replaceAll(/'(?:[^']|'')*'/g, "''").replaceAll(/--[^\n]*/g, '');
  const changes = /\b(DROP|RENAME|ALTER|TRUNCATE|EXECUTE|UPDATE|DELETE|CREATE\s+(UNIQUE\s+)?INDEX)\b/i;
  return changes.test(code) ? CONTRACT : FREE;
}

/** Judges the changes of rows in WITH, at any depth. The body of a new function is not executed. */
function judgeCtes(node: Node, before: Before): readonly Marker[] {
  if (node === null || typeof node !== 'object' || node.CreateFunctionStmt) return FREE;
  const { UpdateStmt, DeleteStmt, MergeStmt, InsertStmt } = node.ctequery ?? {};
  const change = UpdateStmt ?? DeleteStmt ?? MergeStmt ?? InsertStmt;
  const own = change === undefined || before.createdTables.has(nameOf(change.relation)) ? FREE : LOCKS;
  return [...own, ...Object.values(node).flatMap((part) => judgeCtes(part, before))];
}

/** Changes of a table that take nothing from the earlier release, and hold no lock for long. */
const HARMLESS: ReadonlySet<string> = new Set([
  'AT_ValidateConstraint',
  'AT_SetStatistics',
  'AT_SetOptions',
  'AT_ResetOptions',
  'AT_SetStorage',
  'AT_SetCompression',
]);

function judgeCommand(
  { subtype, def }: Node,
  table: string,
  createdTables: ReadonlySet<string>,
): readonly Marker[] {
  const isAttached = subtype === 'AT_AttachPartition';
  const partition = isAttached ? nameOf(def.PartitionCmd.name) : table;
  if (createdTables.has(table) && createdTables.has(partition)) return FREE;
  switch (subtype) {
    case 'AT_ColumnDefault':
      return def === undefined ? CONTRACT : FREE;
    case 'AT_AddColumn':
      return judgeNewColumn(def.ColumnDef);
    case 'AT_AddConstraint':
      return judgeConstraint(def.Constraint);
    case 'AT_AttachPartition':
    case 'AT_SetLogged':
    case 'AT_SetUnLogged':
    case 'AT_SetTableSpace':
      return LOCKS;
    default:
      return HARMLESS.has(subtype) ? FREE : CONTRACT;
  }
}

/** The earlier release inserts no value, and the rows of the table are not read or written. */
function judgeNewColumn({ constraints = [] }: Node): readonly Marker[] {
  const kinds: string[] = constraints.map(({ Constraint: { contype } }: Node) => contype);
  const isFilled = kinds.some((kind) => /DEFAULT|IDENTITY|GENERATED/.test(kind));
  const defaults = constraints.filter(({ Constraint }: Node) => Constraint.contype === 'CONSTR_DEFAULT');
  const isConstant = !/"FuncCall"/.test(JSON.stringify(defaults));
  const readsRows = kinds.some((kind) => /UNIQUE|PRIMARY|CHECK|FOREIGN|IDENTITY|GENERATED/.test(kind));
  return [
    ...(kinds.includes('CONSTR_NOTNULL') && !isFilled ? CONTRACT : FREE),
    ...(readsRows || !isConstant ? LOCKS : FREE),
  ];
}

/** Constraints are added NOT VALID, or with an index that exists. */
function judgeConstraint({ contype, skip_validation: isLater, indexname }: Node): readonly Marker[] {
  if (contype === 'CONSTR_NOTNULL') return CONTRACT;
  return isLater || indexname !== undefined ? FREE : LOCKS;
}
