import { describe, expect, test } from '@jest/globals';
import { FirstStatements } from '../../src/importers/ingest/first-statements.ts';
import type { ImportedHealthRecord, ImportedReading } from '../../src/importers/ingest/importer.ts';

const reading: ImportedReading = {
  type: 'Heart Rate',
  start: 1000,
  end: 1000,
  value: 60,
  unit: '/min',
  source: 'ehr',
};
const condition: ImportedHealthRecord = {
  label: 'condition',
  key: 'c1',
  source: 'ehr',
  record: { case: 'condition', value: { name: 'Asthma' } },
};

describe('repeated statements in a file', () => {
  test('a reading with the same value is a repetition, with another value a contradiction', () => {
    const statements = new FirstStatements();
    expect(statements.standingOfReading(reading)).toBe('first');
    expect(statements.standingOfReading(reading)).toBe('repeated');
    expect(statements.standingOfReading({ ...reading, value: 61 })).toBe('contradicted');
    expect(statements.standingOfReading({ ...reading, end: 2000 })).toBe('first');
  });

  test('a record is recognised by its key, or by its content if it has no key', () => {
    const statements = new FirstStatements();
    const named = (key: string, name: string): ImportedHealthRecord => ({
      ...condition,
      key,
      record: { case: 'condition', value: { name } },
    });
    expect(statements.standingOfRecord(condition)).toBe('first');
    expect(statements.standingOfRecord(named('c1', 'Other'))).toBe('repeated');
    expect(statements.standingOfRecord(named('', 'Asthma'))).toBe('first');
    expect(statements.standingOfRecord(named('', 'Asthma'))).toBe('repeated');
    expect(statements.standingOfRecord(named('', 'Migraine'))).toBe('first');
  });
});
