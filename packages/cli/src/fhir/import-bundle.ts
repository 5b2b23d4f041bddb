import type { Client } from '@connectrpc/connect';
import type { IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { Batcher } from '../ingest/batcher.ts';
import type { ImportReport } from '../ingest/report.ts';
import { retryWhenUnavailable, type Sleep } from '../ingest/retry.ts';
import { UnusableFile } from '../ingest/unusable-file.ts';
import { findBloodType } from './blood-types.ts';
import { type BundleEntry, type BundleReaderOptions, readBundle } from './bundle-reader.ts';
import type { BloodFacts, Outcome, ProfileFacts } from './outcome.ts';
import { idOf, References } from './references.ts';
import { mapResource, typeOf } from './resources.ts';

export interface BundleImportOptions {
  readonly file: string;
  readonly userId: string;
  /** Which patient of the bundle: an id, a reference or a fullUrl; null when the bundle has one. */
  readonly patient: string | null;
  readonly client: Client<typeof IngestionService>;
  /** Told how many bytes of the step have been read. */
  readonly onProgress?: (step: 'checking' | 'importing', bytes: number) => void;
  readonly reader?: Omit<BundleReaderOptions, 'onBytes'>;
  readonly sleep?: Sleep;
}

/**
 * Imports an R4 bundle for a user. The file is read twice: first as a whole, to see that it is complete, whom it is about and
 * what its resources call each other; then again to map and send them. So nothing is written of a file that is broken.
 * The report counts also what had been stored when an error interrupts the import. Throws UnusableFile, or AppError when
 * health-data does not take the data.
 */
export async function importBundle(options: BundleImportOptions, report: ImportReport): Promise<void> {
  const references = await readReferences(options);
  const patient = choosePatient(references, options.patient);
  const run = new BundleImport(options, report, references, patient);
  for await (const entry of readBundle(options.file, readerOptions(options, 'importing')))
    await run.take(entry);
  await run.finish();
}

async function readReferences(options: BundleImportOptions): Promise<References> {
  const references = new References();
  for await (const { fullUrl, resource } of readBundle(options.file, readerOptions(options, 'checking'))) {
    if (resource !== null) references.add(fullUrl, resource);
  }
  return references;
}

function readerOptions(options: BundleImportOptions, step: 'checking' | 'importing'): BundleReaderOptions {
  return { ...options.reader, onBytes: (bytes) => options.onProgress?.(step, bytes) };
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

class BundleImport {
  readonly #options: BundleImportOptions;
  readonly #report: ImportReport;
  readonly #references: References;
  readonly #patient: string | null;
  readonly #batcher: Batcher;
  readonly #blood: BloodFacts[] = [];
  #profile: ProfileFacts = {};

  constructor(
    options: BundleImportOptions,
    report: ImportReport,
    references: References,
    patient: string | null,
  ) {
    this.#options = options;
    this.#report = report;
    this.#references = references;
    this.#patient = patient;
    const { client, userId, sleep } = options;
    this.#batcher = new Batcher({ client, userId, report, ...(sleep === undefined ? {} : { sleep }) });
  }

  async take({ index, fullUrl, resource, problem }: BundleEntry): Promise<void> {
    if (resource === null) {
      this.#report.addRefused('entry', problem, `entry[${index}]`);
      return;
    }
    const type = typeOf(resource);
    const name = idOf(fullUrl, resource);
    const origin = `entry[${index}]${name === '' ? '' : ` ${name.slice(0, 100)}`}`;
    const references = this.#references;
    for (const outcome of mapResource({ resource, fullUrl, references, patient: this.#patient })) {
      await this.#takeOutcome(outcome, type, origin);
    }
  }

  async #takeOutcome(outcome: Outcome, type: string, origin: string): Promise<void> {
    if (outcome.kind === 'reading') await this.#batcher.addReading(outcome.reading, origin);
    else if (outcome.kind === 'record') await this.#batcher.addRecord(outcome.record, origin);
    else if (outcome.kind === 'profile') this.#profile = outcome.facts;
    else if (outcome.kind === 'blood') this.#blood.push(outcome.facts);
    else if (outcome.kind === 'left-out') this.#report.addLeftOut(type, outcome.reason);
    else this.#report.addRefused(type, outcome.reason, origin);
  }

  async finish(): Promise<void> {
    await this.#batcher.flush();
    const bloodType = findBloodType(this.#blood);
    const profile = { ...this.#profile, ...(bloodType === null ? {} : { bloodType }) };
    if (Object.keys(profile).length === 0) return;
    const { client, userId, sleep } = this.#options;
    await retryWhenUnavailable(() => client.putProfile({ userId, ...profile }), sleep);
    this.#report.setProfile(Object.keys(profile));
  }
}
