import { z } from 'zod';
import type { ReportData } from './report.ts';

const count = z.number().int().nonnegative();
const stored = z.object({ inserted: count, updated: count, unchanged: count });

const REPORT = z.object({
  stored,
  readings: z.record(z.string(), stored),
  records: z.record(z.string(), stored),
  profile: z.array(z.string()),
  refusedCount: count,
  refused: z.array(z.object({ type: z.string(), reason: z.string(), count, examples: z.array(z.string()) })),
  leftOutCount: count,
  leftOut: z.array(z.object({ reason: z.string(), types: z.record(z.string(), count) })),
});

/** Parses the report of an earlier run; null if this version did not write it. */
export function parseReportData(text: string): ReportData | null {
  try {
    return REPORT.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}
