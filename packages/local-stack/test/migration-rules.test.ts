import { expect, test } from '@jest/globals';
import { findUnreviewed } from '../bin/migration-rules.ts';

test.each([
  'DROP VIEW known',
  'DROP MATERIALIZED VIEW known',
  'DROP FUNCTION find(text)',
  'drop type app_status',
  'DROP TRIGGER note ON app',
  'REVOKE SELECT ON app FROM runtime',
  'TRUNCATE app',
  'LOCK app IN SHARE MODE',
  'ALTER TABLE app\n  DROP CONSTRAINT app_check',
  'ALTER TABLE app ALTER COLUMN name DROP DEFAULT',
  "ALTER TYPE app_status RENAME VALUE 'active' TO 'live'",
  'ALTER SCHEMA consent RENAME TO ledger',
  'ALTER TABLE record ATTACH PARTITION record_2027 FOR VALUES IN (2027)',
  'SET LOCAL lock_timeout = 0',
])('%s needs a review', (statement) => {
  const before = 'CREATE TABLE shelf (id int);\n-- Nothing uses it.\n';
  expect(findUnreviewed(`${before}${statement};\n`)).toHaveLength(1);
  expect(findUnreviewed(`${before}-- reviewed: since 1.4.0\n${statement};\n`)).toEqual([]);
  expect(findUnreviewed(`-- reviewed: since 1.4.0\nSELECT 1;\n${statement};\n`)).toHaveLength(1);
});

test('what adds something needs none', () => {
  const added = 'ALTER TABLE app ADD COLUMN note text;\n-- DROP VIEW known\nCREATE VIEW known AS SELECT 1;\n';
  expect(findUnreviewed(added)).toEqual([]);
});
