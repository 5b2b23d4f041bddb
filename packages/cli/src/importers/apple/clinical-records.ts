import { type JsonObject, parseResource, textAt } from '../fhir/json-values.ts';
import { idOf, References, subjectsOf } from '../fhir/references.ts';
import { ResourceImport, typeOf } from '../fhir/resources.ts';
import { type ImportSink, UnusableFile } from '../ingest/importer.ts';
import { type ByteSource, readHead } from '../tables/lines.ts';
import type { ExportElement } from './export-parser.ts';
import { toOrigin } from './export-source.ts';
import { toOwnText } from './source-labels.ts';

const TYPE = 'clinical record';
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_OLD_VERSIONS = 100_000;
const OWN_PROFILE = 'the profile of the phone is used instead';
const SOMEBODY_ELSE = "about somebody with another date of birth than the export's owner";

/**
 * Records from clinics: FHIR resources, one a file, mapped like those of a bundle. The `ClinicalRecord` elements of the XML give
 * the FHIR version of each file; only R4 is imported.
 */
export class ClinicalRecords {
  readonly #files: readonly ByteSource[];
  readonly #references = new References();
  readonly #otherVersions = new Set<string>();
  /** Of the patients of the clinics. Parents may have the records of their children on the phone. */
  readonly #births = new Map<string, Set<string>>();
  #ownBirth = '';

  constructor(files: readonly ByteSource[]) {
    this.#files = files;
  }

  /** Called for every element of the XML. */
  notice({ name, attributes }: ExportElement): void {
    if (name === 'Me') this.#ownBirth = attributes['HKCharacteristicTypeIdentifierDateOfBirth'] ?? '';
    if (name !== 'ClinicalRecord') return;
    const { fhirVersion = '', resourceFilePath = '' } = attributes;
    if (fhirVersion === '' || fhirVersion.startsWith('4.')) return;
    if (this.#otherVersions.size < MAX_OLD_VERSIONS)
      this.#otherVersions.add(toOwnText(lastPart(resourceFilePath)));
  }

  /** Reads how the resources refer to each other. */
  async learn(): Promise<void> {
    for (const file of this.#files) {
      const resource = await this.#read(file);
      if (typeof resource === 'string') continue;
      this.#references.add('', resource);
      const birth = textAt(resource, 'birthDate');
      if (typeOf(resource) !== 'Patient' || birth === '') continue;
      const id = idOf('', resource);
      this.#births.set(id, (this.#births.get(id) ?? new Set()).add(birth));
    }
    // Without a date of its own, the export's owner is known only if all clinics have the same one.
    const births = new Set([...this.#births.values()].flatMap((each) => [...each]));
    if (this.#ownBirth === '' && births.size === 1) this.#ownBirth = [...births][0] ?? '';
  }

  #isAboutSomebodyElse(resource: JsonObject): boolean {
    const subjects = subjectsOf(resource).map((subject) => this.#references.canonical(subject));
    const births = subjects.flatMap((subject) => [...(this.#births.get(subject) ?? [])]);
    return births.some((birth) => !this.#ownBirth.startsWith(birth));
  }

  /** Passes the content of each file to the sink for that file's position, and reports when a file has been read. */
  async readAll(
    sinkOf: (index: number) => ImportSink,
    onRead: (index: number) => Promise<void>,
    timeZone: string,
  ): Promise<void> {
    // The other patients in these files are the same person, with different ids in each clinic.
    const resources = new ResourceImport({ references: this.#references, patient: null, timeZone });
    for (const [index, file] of this.#files.entries()) {
      this.#take(await this.#read(file), toOrigin(file.name), resources, sinkOf(index));
      await onRead(index);
    }
    resources.finish(sinkOf(this.#files.length));
  }

  #take(resource: JsonObject | string, origin: string, resources: ResourceImport, sink: ImportSink): void {
    const type = typeof resource === 'string' ? TYPE : typeOf(resource);
    const refuse = (reason: string) => sink.take({ kind: 'refused', reason }, type, origin);
    if (typeof resource === 'string') refuse(resource);
    else if (type === 'Patient') sink.take({ kind: 'left-out', reason: OWN_PROFILE }, type, origin);
    else if (this.#isAboutSomebodyElse(resource)) refuse(SOMEBODY_ELSE);
    else resources.take({ resource, fullUrl: '', origin }, sink);
  }

  async #read(file: ByteSource): Promise<JsonObject | string> {
    if (this.#otherVersions.has(lastPart(file.name))) return 'is not FHIR R4';
    if (file.size > MAX_BYTES) return 'is larger than 8 MB';
    try {
      return parseResource((await readHead(file, Number.POSITIVE_INFINITY)).toString());
    } catch (error) {
      if (error instanceof UnusableFile) return 'is damaged';
      throw error;
    }
  }
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
