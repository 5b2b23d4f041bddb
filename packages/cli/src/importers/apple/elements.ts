import type { ExportElement } from './export-element.ts';
import { leftOut, type Outcome } from './outcome.ts';
import { mapMe } from './profile.ts';
import { mapRecord } from './records.ts';
import type { SourceLabels } from './source-labels.ts';
import { typeNameOf } from './type-names.ts';

// Why some elements other than records are skipped on purpose.
const LEFT_OUT: ReadonlyMap<string, string> = new Map([
  ['ExportDate', 'about the export itself'],
  ['Correlation', 'its parts are separate records in the file'],
  ['Workout', 'its energy, distance and heart rates are separate records in the file'],
  ['ActivitySummary', 'daily totals follow from the records'],
  ['ClinicalRecord', 'its content is in a file of the archive'],
]);

/** Maps an element below `HealthData`. */
export function mapElement(element: ExportElement, labels: SourceLabels): readonly Outcome[] {
  if (element.name === 'Record') return [mapRecord(element, labels)];
  if (element.name === 'Me') return mapMe(element);
  return [leftOut(typeNameOf(element.name), LEFT_OUT.get(element.name) ?? 'no metric type for it')];
}
