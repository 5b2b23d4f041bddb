import { loadModule, type ParseResult, parseSync } from 'libpg-query';

/*
 * What a migration may do while the earlier release runs (docs/operations/rolling-updates.md). A statement that these rules refuse needs a
 * comment of its own above it:
 *
 *   -- contract: nothing uses app.legacy_name since 0.4.0     for what takes something away
 *   -- locks: notice_cursor has one row                       for what holds a lock while it reads or writes rows
 */

export interface Violation {
  /** Line of the statement, from 1. */
  readonly line: number;
  readonly what: string;
  /** The comment that would allow it; null when nothing does. */
  readonly marker: 'contract' | 'locks' | null;
}

type Finding = Omit<Violation, 'line'>;

// biome-ignore lint/suspicious/noExplicitAny: the tree of the parser, whose nodes are looked at by their names
type Node = any;

/** What the migration has done before the statement. */
interface Before {
  readonly createdTables: ReadonlySet<string>;
  /** Text of its DO blocks. */
  readonly blocks: readonly string[];
}

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
  for (const { stmt, stmt_location: at = 0, stmt_len: length } of parseStatements(sql)) {
    const end = length === undefined ? source.length : at + length;
    // The comment before a statement belongs to it.
    const text = source.toString('utf8', start, end);
    const line = lineOf(source, start, text);
    start = end + 1;
    for (const finding of findInStatement(stmt, { createdTables, blocks })) {
      if (!isAllowed(text, finding.marker)) violations.push({ ...finding, line });
    }
    if (stmt.CreateStmt) createdTables.add(stmt.CreateStmt.relation.relname);
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
  if (stmt.AlterTableStmt) return findInAlterTable(stmt.AlterTableStmt, before);
  if (stmt.IndexStmt) return findInIndex(stmt.IndexStmt, before);
  if (stmt.DropStmt) return findInDrop(stmt.DropStmt);
  if (stmt.DoStmt) return findInBlock(bodyOf(stmt.DoStmt));
  if (stmt.RenameStmt) return [contract('renames what the earlier release uses')];
  if (stmt.AlterObjectSchemaStmt) return [contract('moves what the earlier release uses to another schema')];
  if (stmt.TruncateStmt) return [contract('empties a table')];
  if (stmt.AlterEnumStmt?.oldVal) return [contract('renames a value of an enum')];
  if (stmt.GrantStmt && !stmt.GrantStmt.is_grant) return findInRevoke(stmt.GrantStmt, before);
  if (stmt.UpdateStmt) return findInChange(stmt.UpdateStmt, 'updates', before);
  if (stmt.DeleteStmt) return findInChange(stmt.DeleteStmt, 'deletes', before);
  if (stmt.LockStmt) return [locks('locks a table')];
  return findInSession(stmt);
}

/** What the migration command decides. */
function findInSession(stmt: Node): Finding[] {
  if (stmt.TransactionStmt)
    return [never('ends or begins a transaction; each migration runs in one of its own')];
  if (/"lock_timeout"/.test(JSON.stringify(stmt.VariableSetStmt ?? stmt.SelectStmt ?? '')))
    return [never('sets lock_timeout, which the migration command sets')];
  return [];
}

const contract = (what: string): Finding => ({ what, marker: 'contract' });
const locks = (what: string): Finding => ({ what, marker: 'locks' });
const never = (what: string): Finding => ({ what, marker: null });

function findInAlterTable(alter: Node, { createdTables }: Before): Finding[] {
  const table = alter.relation.relname;
  if (createdTables.has(table)) return [];
  return alter.cmds.flatMap(({ AlterTableCmd: command }: Node) => findInCommand(command, table));
}

function findInCommand({ subtype, name, def }: Node, table: string): Finding[] {
  switch (subtype) {
    case 'AT_DropColumn':
      return [contract(`drops the column ${table}.${name}`)];
    case 'AT_AlterColumnType':
      return [contract(`changes the type of ${table}.${name}`)];
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
      return [];
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

function findInIndex(index: Node, { createdTables, blocks }: Before): Finding[] {
  const { idxname, relation, if_not_exists: mayExist, concurrent } = index;
  const table = relation.relname;
  if (concurrent)
    return [never('uses CONCURRENTLY, which is not possible in the transaction of a migration')];
  if (createdTables.has(table)) return [];
  const isChecked = blocks.some((text) => text.includes('indisvalid') && text.includes(idxname));
  if (mayExist && isChecked) return [];
  return [
    locks(
      `builds ${idxname ?? 'an index'} while writes to ${table} wait; let it be built before, with IF NOT EXISTS and a check of indisvalid`,
    ),
  ];
}

/** Without these, statements of the earlier release are slower or accept more; they still work. */
const MAY_GO: ReadonlySet<string> = new Set(['OBJECT_INDEX', 'OBJECT_STATISTIC_EXT', 'OBJECT_POLICY']);

function findInDrop({ removeType }: Node): Finding[] {
  if (MAY_GO.has(removeType)) return [];
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
  const names = objects.map(({ RangeVar }: Node) => RangeVar?.relname);
  return names.every((name: string) => createdTables.has(name)) ? [] : [contract('takes a right away')];
}

function findInChange({ relation }: Node, verb: string, { createdTables }: Before): Finding[] {
  const table = relation.relname;
  return createdTables.has(table) ? [] : [locks(`${verb} rows of ${table} in one transaction`)];
}

function bodyOf({ args }: Node): string {
  return args.map(({ DefElem }: Node) => DefElem.arg?.String?.sval ?? '').join('\n');
}
