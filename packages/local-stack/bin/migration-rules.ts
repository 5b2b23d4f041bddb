import { loadModule, type ParseResult, parseSync } from 'libpg-query';

export interface Violation {
  /** Line of the statement, from 1. */
  readonly line: number;
  readonly what: string;
  /** The comment that would allow it; null when nothing does. */
  readonly marker: 'contract' | 'locks' | null;
}

type Finding = Omit<Violation, 'line'>;

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

export const contract = (what: string): Finding => ({ what, marker: 'contract' });
export const locks = (what: string): Finding => ({ what, marker: 'locks' });
export const never = (what: string): Finding => ({ what, marker: null });

const MAY_BE_TARGET = 'ON CONFLICT of the earlier release may name it';

/** A table named without its schema is in the schema of the service. */
function nameOf({ schemaname, relname }: Node): string {
  return schemaname === undefined ? relname : `${schemaname}.${relname}`;
}

/*
 * What a migration may do while the earlier release runs (docs/operations/upgrade-and-release.md). A statement that these rules refuse needs a
 * comment of its own above it:
 *
 *   -- contract: nothing uses app.legacy_name since 0.4.0     for what takes something away
 *   -- locks: notice_cursor has one row                       for what holds a lock while it reads or writes rows
 */

const NAMES_A_RELEASE = /^[ \t]*-- contract: .*\bsince v?\d+\.\d+\.\d+/m;
const SAYS_WHY = /^[ \t]*-- locks: \S.*/m;

/** Lists what the migration does that the earlier release, or a service under load, cannot bear. */
export async function findViolations(sql: string): Promise<Violation[]> {
  await loadModule();
  const source = Buffer.from(sql);
  const createdTables = new Set<string>();
  const blocks: string[] = [];
  const violations: Violation[] = [];
  let start = 0;
  const statements = parseStatements(sql);
  for (const { stmt, stmt_location: at = 0, stmt_len: length } of statements) {
    const end = length === undefined ? source.length : at + length;
    // The comment before a statement belongs to it.
    const text = source.toString('utf8', start, end);
    const line = lineOf(source, start, text);
    start = end + 1;
    const before = { createdTables, blocks, isAlone: statements.length === 1 };
    for (const finding of [...findInStatement(stmt, before), ...findInCtes(stmt, before)]) {
      if (!isAllowed(text, finding.marker)) violations.push({ ...finding, line });
    }
    if (stmt.CreateStmt) createdTables.add(nameOf(stmt.CreateStmt.relation));
    if (stmt.DoStmt) blocks.push(bodyOf(stmt.DoStmt));
  }
  return violations;
}

function parseStatements(sql: string): { stmt: Node; stmt_location?: number; stmt_len?: number }[] {
  const { stmts = [] }: ParseResult = parseSync(sql);
  return stmts as Node[];
}

/** The line on which the statement itself begins, after the comments above it. */
function lineOf(source: Buffer, start: number, text: string): number {
  const before = source.toString('utf8', 0, start);
  const [lead = ''] = text.match(/^(\s|--[^\n]*(\n|$))*/) ?? [];
  return `${before}${lead}`.split('\n').length;
}

function isAllowed(text: string, marker: Finding['marker']): boolean {
  if (marker === null) return false;
  return (marker === 'contract' ? NAMES_A_RELEASE : SAYS_WHY).test(text);
}

function findInStatement(stmt: Node, before: Before): Finding[] {
  if (stmt.CreateStmt) return findInNewTable(stmt.CreateStmt, before);
  if (stmt.AlterTableStmt) return findInAlterTable(stmt.AlterTableStmt, before);
  if (stmt.IndexStmt) return findInIndex(stmt.IndexStmt, before);
  if (stmt.DropStmt) return findInDrop(stmt.DropStmt, before);
  if (stmt.DoStmt) return findInBlock(bodyOf(stmt.DoStmt));
  if (stmt.RenameStmt) return [contract('renames what the earlier release uses')];
  if (stmt.AlterObjectSchemaStmt) return [contract('moves what the earlier release uses to another schema')];
  if (stmt.TruncateStmt) return [contract('empties a table')];
  if (stmt.AlterEnumStmt?.oldVal) return [contract('renames a value of an enum')];
  if (stmt.GrantStmt && !stmt.GrantStmt.is_grant) return findInRevoke(stmt.GrantStmt, before);
  if (stmt.UpdateStmt || stmt.DeleteStmt || stmt.MergeStmt) return findInChange(stmt, before);
  if (stmt.LockStmt) return [locks('locks a table')];
  return [...findInPolicy(stmt, before), ...findInSession(stmt)];
}

/** What the migration command decides. */
function findInSession(stmt: Node): Finding[] {
  if (stmt.TransactionStmt)
    return [never('ends or begins a transaction; each migration runs in one of its own')];
  if (/"lock_timeout"/.test(JSON.stringify(stmt.VariableSetStmt ?? stmt.SelectStmt ?? '')))
    return [never('sets lock_timeout, which the migration command sets')];
  return [];
}

function findInPolicy(stmt: Node, { createdTables }: Before): Finding[] {
  if (stmt.AlterPolicyStmt) return [contract('changes a policy')];
  if (!stmt.CreatePolicyStmt || stmt.CreatePolicyStmt.permissive) return [];
  const table = nameOf(stmt.CreatePolicyStmt.table);
  return createdTables.has(table) ? [] : [contract(`hides rows of ${table} by a policy`)];
}

function findInIndex(index: Node, before: Before): Finding[] {
  const { idxname, relation, if_not_exists: mayExist, concurrent } = index;
  const table = nameOf(relation);
  if (concurrent) return findInConcurrent(mayExist, before);
  if (before.createdTables.has(table)) return [];
  const isChecked = before.blocks.some((text) => text.includes('indisvalid') && text.includes(idxname));
  if (mayExist && isChecked) return [];
  return [
    locks(
      `builds ${idxname ?? 'an index'} while writes to ${table} wait; build it with CREATE INDEX CONCURRENTLY IF NOT EXISTS in a migration of its own`,
    ),
  ];
}

/** Runs without a transaction, and again after an interruption. */
function findInConcurrent(isRepeatable: boolean, { isAlone }: Before): Finding[] {
  return [
    ...(isAlone ? [] : [never('uses CONCURRENTLY beside other statements; give it a migration of its own')]),
    ...(isRepeatable ? [] : [never('uses CONCURRENTLY without IF [NOT] EXISTS, so it cannot be repeated')]),
  ];
}

function findInDrop({ removeType, concurrent, missing_ok: mayLack }: Node, before: Before): Finding[] {
  if (concurrent) {
    return [...findInConcurrent(mayLack, before), contract(`drops an index: ${MAY_BE_TARGET}`)];
  }
  // Only plans of queries depend on extended statistics.
  if (removeType === 'OBJECT_STATISTIC_EXT') return [];
  if (removeType === 'OBJECT_INDEX') return [contract(`drops an index: ${MAY_BE_TARGET}`)];
  return [contract(`drops a ${removeType.replace('OBJECT_', '').toLowerCase()}`)];
}

function findInBlock(body: string): Finding[] {
  const code = body.replaceAll(/'(?:[^']|'')*'/g, "''").replaceAll(/--[^\n]*/g, '');
  const [word] =
    code.match(/\b(DROP|RENAME|ALTER|TRUNCATE|EXECUTE|UPDATE|DELETE|CREATE\s+(UNIQUE\s+)?INDEX)\b/i) ?? [];
  return word === undefined
    ? []
    : [contract(`changes tables in a DO block (${word.toUpperCase()}), which this check cannot read`)];
}

function findInRevoke({ objects = [] }: Node, { createdTables }: Before): Finding[] {
  const names = objects.map(({ RangeVar }: Node) => RangeVar && nameOf(RangeVar));
  return names.every((name: string) => createdTables.has(name)) ? [] : [contract('takes a right away')];
}

function findInChange(stmt: Node, { createdTables }: Before): Finding[] {
  const { relation } = stmt.UpdateStmt ?? stmt.DeleteStmt ?? stmt.MergeStmt ?? stmt.InsertStmt;
  const table = nameOf(relation);
  return createdTables.has(table) ? [] : [locks(`changes rows of ${table} in one transaction`)];
}

/** Finds the changes of rows in WITH, at any depth. The body of a new function is not executed. */
function findInCtes(node: Node, before: Before): Finding[] {
  if (node === null || typeof node !== 'object' || node.CreateFunctionStmt) return [];
  const query = node.ctequery;
  const own = query === undefined || query.SelectStmt ? [] : findInChange(query, before);
  return [...own, ...Object.values(node).flatMap((part) => findInCtes(part, before))];
}

function bodyOf({ args }: Node): string {
  return args.map(({ DefElem }: Node) => DefElem.arg?.String?.sval ?? '').join('\n');
}

function findInNewTable({ relation, partbound, inhRelations = [] }: Node, before: Before): Finding[] {
  if (partbound === undefined) return [];
  const parent = nameOf(inhRelations[0].RangeVar);
  return before.createdTables.has(parent) ? [] : [attaches(nameOf(relation), parent)];
}

const attaches = (partition: string, table: string): Finding =>
  locks(`locks and may read ${partition} and the default partition of ${table} to attach the partition`);

function findInAlterTable({ relation, cmds }: Node, { createdTables }: Before): Finding[] {
  const table = nameOf(relation);
  return cmds.flatMap(({ AlterTableCmd: command }: Node) => {
    const isAttached = command.subtype === 'AT_AttachPartition';
    const partition = isAttached ? nameOf(command.def.PartitionCmd.name) : table;
    if (createdTables.has(table) && createdTables.has(partition)) return [];
    return isAttached ? [attaches(partition, table)] : findInCommand(command, table);
  });
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

function findInCommand({ subtype, name, def }: Node, table: string): Finding[] {
  switch (subtype) {
    case 'AT_DropColumn':
      return [contract(`drops the column ${table}.${name}`)];
    case 'AT_AlterColumnType':
      return [contract(`changes the type of ${table}.${name}`)];
    case 'AT_DropConstraint':
      return [contract(`drops the constraint ${name} of ${table}: ${MAY_BE_TARGET}`)];
    case 'AT_EnableRowSecurity':
    case 'AT_ForceRowSecurity':
      return [contract(`hides the rows of ${table} that no policy shows`)];
    case 'AT_SetNotNull':
      return [contract(`makes ${table}.${name} NOT NULL`)];
    case 'AT_ColumnDefault':
      return def === undefined ? [contract(`drops the default of ${table}.${name}`)] : [];
    case 'AT_AddColumn':
      return findInNewColumn(def.ColumnDef, table);
    case 'AT_AddConstraint':
      return findInConstraint(def.Constraint, table);
    case 'AT_SetLogged':
    case 'AT_SetUnLogged':
    case 'AT_SetTableSpace':
      return [locks(`rewrites ${table}`)];
    default:
      return HARMLESS.has(subtype)
        ? []
        : [contract(`changes ${table} in a way that this check does not know (${subtype})`)];
  }
}

function findInNewColumn({ colname, constraints = [] }: Node, table: string): Finding[] {
  const kinds: string[] = constraints.map(({ Constraint: { contype } }: Node) => contype);
  const column = `${table}.${colname}`;
  const findings: Finding[] = [];
  if (kinds.includes('CONSTR_NOTNULL') && !kinds.some((kind) => /DEFAULT|IDENTITY|GENERATED/.test(kind)))
    findings.push(
      contract(`adds ${column}, which is NOT NULL without a default: the earlier release inserts none`),
    );
  if (kinds.some((kind) => /UNIQUE|PRIMARY/.test(kind)))
    findings.push(locks(`builds the index of ${column} while ${table} is locked`));
  if (kinds.some((kind) => /CHECK|FOREIGN|IDENTITY|GENERATED/.test(kind)))
    findings.push(locks(`reads or writes all rows of ${table} for ${column}`));
  const defaults = constraints.map(
    ({ Constraint }: Node) => Constraint.contype === 'CONSTR_DEFAULT' && Constraint.raw_expr,
  );
  if (defaults.some((value: Node) => value && /"FuncCall"/.test(JSON.stringify(value))))
    findings.push(locks(`may write all rows of ${table}, because the default of ${column} is no constant`));
  return findings;
}

function findInConstraint(
  { contype, conname, skip_validation: isLater, indexname }: Node,
  table: string,
): Finding[] {
  const name = conname === undefined ? '' : ` ${conname}`;
  if (contype === 'CONSTR_NOTNULL') return [contract(`makes a column of ${table} NOT NULL`)];
  if (/UNIQUE|PRIMARY|EXCLUSION/.test(contype)) {
    return indexname === undefined
      ? [locks(`builds the index of the constraint${name} while ${table} is locked`)]
      : [];
  }
  if (isLater) return [];
  return [
    locks(
      `reads all rows of ${table} for the constraint${name}; add it NOT VALID, and validate it in the next migration`,
    ),
  ];
}
