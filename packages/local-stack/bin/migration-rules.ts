/** What squawk does not report, although it takes something from the earlier release or blocks it. */
const UNREPORTED = [
  /^(?:LOCK|REVOKE|TRUNCATE)\b.*/i,
  /^SET\s.*\block_timeout\b/i,
  /\bDROP\s+(?:CONSTRAINT|DEFAULT|DOMAIN|FUNCTION|MATERIALIZED|POLICY|PROCEDURE|SCHEMA|SEQUENCE|TRIGGER|TYPE|VIEW)\b/i,
  /^ALTER\s+(?!TABLE\b)[^;]*\bRENAME\b/i,
  /\bATTACH\s+PARTITION\b/i,
];

/** The parts of a migration that need a comment `-- reviewed: why` above their statement, and have none. A statement ends with its line. */
export function findUnreviewed(migration: string): string[] {
  const statements = migration.split(/;\s*$/m).filter((statement) => !/^-- reviewed: \S/m.test(statement));
  const texts = statements.map((statement) => statement.replaceAll(/--.*$/gm, '').trim());
  return texts.flatMap((text) => UNREPORTED.flatMap((rule) => rule.exec(text)?.[0] ?? []));
}
