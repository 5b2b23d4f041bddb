import { statSync } from 'node:fs';
import { FirstStatements } from '../ingest/first-statements.ts';
import type { ImportedReading, ImportedRecord } from '../ingest/imported-item.ts';
import { type Importer, type ImportSink, type ImportSource, withoutItems } from '../ingest/importer.ts';
import { UnusableFile } from '../ingest/unusable-file.ts';
import { findBloodType } from './blood-types.ts';
import { type BundleEntry, readBundle } from './bundle-reader.ts';
import type { BloodFacts, Outcome } from './outcome.ts';
import { idOf, References } from './references.ts';
import { mapResource, typeOf } from './resources.ts';

const NAME_LENGTH = 100;

/**
 * R4 bundles. The file is read twice: first as a whole, to see that it is complete, whom it is about and what its resources
 * call each other; then again to map and send them. So nothing is written of a file that is broken.
 */
export const fhirImporter: Importer = {
  format: 'fhir',
  takesSeveral: false,
  async open({ paths, patient, onChecked }) {
    const file = paths[0] ?? '';
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const references = new References();
    for await (const { fullUrl, resource } of readBundle(file, {
      onBytes: (bytes) => onChecked(bytes, size),
    })) {
      if (resource !== null) references.add(fullUrl, resource);
    }
    return toSource(file, size, references, choosePatient(references, patient));
  },
};

function toSource(file: string, size: number, references: References, patient: string | null): ImportSource {
  return {
    files: [file],
    size,
    describe: (index) => `entry[${index}]`,
    async read(sink, from) {
      const entries = new EntryImport(references, patient);
      const earlier = withoutItems(sink);
      for await (const entry of readBundle(file)) {
        entries.take(entry, entry.end <= from ? earlier : sink);
        if (entry.end > from) await sink.reached(entry.end);
      }
      entries.finish(sink);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const MAX_LISTED = 5;

/** The patient whose data is imported; null when the bundle names none. Throws UnusableFile when that is not clear. */
function choosePatient(references: References, wanted: string | null): string | null {
  const patients = references.patients();
  if (wanted === null) {
    if (patients.length <= 1) return patients[0] ?? null;
    const listed = patients.slice(0, MAX_LISTED).join(', ');
    throw new UnusableFile(
      `The bundle is about ${patients.length} patients (${listed}${patients.length > MAX_LISTED ? ', …' : ''}): choose one with --patient`,
    );
  }
  const spellings = [references.canonical(wanted), `Patient/${wanted}`];
  const found = patients.find((patient) => spellings.includes(patient));
  if (found === undefined) throw new UnusableFile(`The bundle has no patient ${wanted}`);
  return found;
}

/** Maps entries one after the other. What the bundle states twice counts once: its first statement. */
class EntryImport {
  readonly #references: References;
  readonly #patient: string | null;
  readonly #statements = new FirstStatements();
  readonly #blood: BloodFacts[] = [];

  constructor(references: References, patient: string | null) {
    this.#references = references;
    this.#patient = patient;
  }

  take({ index, fullUrl, resource, problem }: BundleEntry, sink: ImportSink): void {
    if (resource === null) {
      sink.refused('entry', problem, index);
      return;
    }
    const name = idOf(fullUrl, resource);
    const origin = `entry[${index}]${name === '' ? '' : ` ${name.slice(0, NAME_LENGTH)}`}`;
    const outcomes = mapResource({ resource, fullUrl, references: this.#references, patient: this.#patient });
    for (const outcome of outcomes) this.#takeOutcome(outcome, typeOf(resource), origin, sink);
  }

  /** Tells what only all observations together say. */
  finish(sink: ImportSink): void {
    const bloodType = findBloodType(this.#blood);
    if (bloodType !== null) sink.profile({ bloodType });
  }

  #takeOutcome(outcome: Outcome, type: string, origin: string, sink: ImportSink): void {
    if (outcome.kind === 'reading') this.#takeReading(outcome.reading, origin, sink);
    else if (outcome.kind === 'record') this.#takeRecord(outcome.record, origin, sink);
    else if (outcome.kind === 'profile') sink.profile(outcome.facts);
    else if (outcome.kind === 'blood') this.#blood.push(outcome.facts);
    else if (outcome.kind === 'left-out') sink.leftOut(type, outcome.reason);
    else sink.refused(type, outcome.reason, origin);
  }

  #takeReading(reading: ImportedReading, origin: string, sink: ImportSink): void {
    const standing = this.#statements.standingOfReading(reading);
    if (standing === 'first') sink.reading(reading, origin);
    else if (standing === 'repeated') sink.leftOut(reading.type, 'stated twice in the file');
    else sink.refused(reading.type, 'another value for the same time stands earlier in the file', origin);
  }

  #takeRecord(record: ImportedRecord, origin: string, sink: ImportSink): void {
    const isFirst = this.#statements.standingOfRecord(record) === 'first';
    if (isFirst) sink.record(record, origin);
    else sink.leftOut(record.label, 'stated twice in the file');
  }
}
