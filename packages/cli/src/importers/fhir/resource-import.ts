import type { FirstStatements } from '../ingest/first-statements.ts';
import type { ImportedHealthRecord, ImportedReading, Origin } from '../ingest/imported-item.ts';
import type { ImportSink } from '../ingest/importer.ts';
import { findBloodType } from './blood-types.ts';
import type { JsonObject } from './json-values.ts';
import type { BloodFacts, Outcome } from './outcome.ts';
import type { References } from './references.ts';
import { mapResource, typeOf } from './resources.ts';

export interface ResourceImportOptions {
  readonly references: References;
  /** The imported patient; null if the input names none. */
  readonly patient: string | null;
  /** Given if a second statement is a mistake; otherwise the last statement counts. */
  readonly statements?: FirstStatements;
}

/** A resource with its position. */
export interface PlacedResource {
  readonly resource: JsonObject;
  readonly fullUrl: string;
  readonly origin: Origin;
}

/** Maps resources one after the other and passes the results to a sink. */
export class ResourceImport {
  readonly #options: ResourceImportOptions;
  readonly #blood: BloodFacts[] = [];

  constructor(options: ResourceImportOptions) {
    this.#options = options;
  }

  take({ resource, fullUrl, origin }: PlacedResource, sink: ImportSink): void {
    const { references, patient } = this.#options;
    for (const outcome of mapResource({ resource, fullUrl, references, patient })) {
      this.#takeOutcome(outcome, typeOf(resource), origin, sink);
    }
  }

  /** Passes on the result that depends on all observations together. */
  finish(sink: ImportSink): void {
    const bloodType = findBloodType(this.#blood);
    if (bloodType !== null) sink.profile({ bloodType });
  }

  #takeOutcome(outcome: Outcome, type: string, origin: Origin, sink: ImportSink): void {
    if (outcome.kind === 'reading') this.#takeReading(outcome.reading, origin, sink);
    else if (outcome.kind === 'record') this.#takeRecord(outcome.record, origin, sink);
    else if (outcome.kind === 'profile') sink.profile(outcome.facts);
    else if (outcome.kind === 'blood') this.#blood.push(outcome.facts);
    else if (outcome.kind === 'left-out') sink.leftOut(type, outcome.reason);
    else sink.refused(type, outcome.reason, origin);
  }

  #takeReading(reading: ImportedReading, origin: Origin, sink: ImportSink): void {
    const standing = this.#options.statements?.standingOfReading(reading) ?? 'first';
    if (standing === 'first') sink.reading(reading, origin);
    else if (standing === 'repeated') sink.leftOut(reading.type, 'stated twice in the file');
    else
      sink.refused(reading.type, 'an earlier item in the file has another value for the same time', origin);
  }

  #takeRecord(record: ImportedHealthRecord, origin: Origin, sink: ImportSink): void {
    const standing = this.#options.statements?.standingOfRecord(record) ?? 'first';
    if (standing === 'first') sink.record(record, origin);
    else sink.leftOut(record.label, 'stated twice in the file');
  }
}
