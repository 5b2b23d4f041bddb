import { loadModule, type ParseResult, parseSync } from 'libpg-query';
import { findInAlterTable, findInNewTable } from './alter-table-rules.ts';
import {
  type Before,
  contract,
  type Finding,
  locks,
  MAY_BE_TARGET,
  type Node,
  nameOf,
  never,
  type Violation,
} from './migration-findings.ts';

/*
 * What a migration may do while the earlier release runs (docs/operations/rolling-updates.md). A statement that these rules refuse needs a
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
