import type { ImportedReading, Origin } from '../ingest/imported-item.ts';
import type { ImportSink } from '../ingest/importer.ts';
import type { Outcome } from './outcome.ts';
import type { Standing } from './value-table.ts';

/** Passes the outcome of an element to the sink. */
export function handOver(outcome: Outcome, sink: ImportSink, origin: Origin): void {
  if (outcome.kind === 'reading') sink.reading(outcome.reading, origin);
  else if (outcome.kind === 'record') sink.record(outcome.record, origin);
  else if (outcome.kind === 'profile') sink.profile(outcome.facts);
  else if (outcome.kind === 'left-out') sink.leftOut(outcome.type, outcome.reason);
  else sink.refused(outcome.type, outcome.reason, origin);
}

/** Passes the first reading of its type, times and source to the sink, and counts the others with a reason. */
export function handOverReading(
  reading: ImportedReading,
  standing: Standing,
  sink: ImportSink,
  origin: Origin,
): void {
  if (standing === 'first') sink.reading(reading, origin);
  else if (standing === 'repeated') sink.leftOut(reading.type, 'stated twice in the file');
  else
    sink.refused(
      reading.type,
      'an earlier item in the file has another value for the same time and source',
      origin,
    );
}
