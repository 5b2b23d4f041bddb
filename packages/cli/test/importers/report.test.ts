import { describe, expect, test } from '@jest/globals';
import { ImportReport, parseReportData } from '../../src/importers/ingest/report.ts';

// Maximum report size that health-data accepts.
const MAX_REPORT_LENGTH = 256 * 1024;

/** A report with as many and as long invented names as possible. */
function hostileReport(): ImportReport {
  const report = new ImportReport();
  for (let n = 0; n < 5_000; n += 1) {
    const name = `"\\\u001b[2J\u0000${n} ${'"'.repeat(5_000)}`;
    report.addLeftOut(name, `reason ${name}`);
    report.addRefused(name, `reason ${name}`, name);
  }
  return report;
}

describe('a report', () => {
  test('with invented names is bounded, and its sums are correct', () => {
    const data = hostileReport().toData();
    expect([data.leftOutCount, data.refusedCount]).toEqual([5_000, 5_000]);
    const text = JSON.stringify(data);
    expect(text.length).toBeLessThan(MAX_REPORT_LENGTH);
    expect(text).not.toMatch(/\\u00[01]/);
    expect(data.refused[0]).toMatchObject({ type: 'other', reason: 'other', count: 4_900 });
  });

  test('keeps its counts when added to another or read back', () => {
    const report = hostileReport();
    report.addStored('readings', 'Heart Rate', { inserted: 1, updated: 2, unchanged: 3 });
    report.setProfile(['gender']);
    const data = report.toData();
    const sum = new ImportReport();
    sum.add(report);
    expect(sum.toData()).toEqual(data);
    expect(parseReportData(JSON.stringify(data))).toEqual(data);
    sum.add(report);
    expect(sum.toData()).toMatchObject({
      stored: { inserted: 2, updated: 4, unchanged: 6 },
      leftOutCount: 10_000,
      refusedCount: 10_000,
    });
  });

  test('describes only the positions of examples that it shows', () => {
    const asked: number[] = [];
    const report = new ImportReport((origin) => {
      asked.push(origin);
      return `line ${origin}`;
    });
    for (let line = 1; line <= 1_000; line += 1) report.addRefused('Weight', 'value is missing', line);
    expect(report.toData().refused).toEqual([
      { type: 'Weight', reason: 'value is missing', count: 1_000, examples: ['line 1', 'line 2', 'line 3'] },
    ]);
    expect(asked).toEqual([1, 2, 3]);
  });
});
