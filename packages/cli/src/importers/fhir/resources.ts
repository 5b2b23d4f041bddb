import {
  type ImportRequest,
  type ImportSink,
  type ImportSource,
  Refused,
  takeFrom,
} from '../ingest/importer.ts';
import { mapAllergy, mapAppointment, mapCondition, mapPatient } from './clinical-resources.ts';
import { statesAbsence } from './concepts.ts';
import { hasEhrSummary, mapEhrRecord } from './ehr-summaries.ts';
import { at, type JsonObject, textAt } from './json-values.ts';
import { mapMedication } from './medications.ts';
import { checkModifiers, isOlderThanR4 } from './modifiers.ts';
import { findBloodType, mapObservation } from './observations.ts';
import type { BloodFacts, Mapper, MappingContext, Outcome } from './outcome.ts';
import { checkSubject, choosePatient, idOf, References } from './references.ts';

// Types with a resource of their own in our API. They are stored only there: a partner with `read:ehr` must not
// get medications through the EHR list.
const MAPPERS: ReadonlyMap<string, Mapper> = new Map([
  ['Observation', mapObservation],
  ['Condition', mapCondition],
  ['AllergyIntolerance', mapAllergy],
  ['MedicationRequest', mapMedication],
  ['MedicationStatement', mapMedication],
  ['Appointment', mapAppointment],
]);

/** A resource of the bundle with the imported patient (null if the bundle names none). */
interface ResourceToMap {
  readonly resource: JsonObject;
  readonly fullUrl: string;
  readonly references: References;
  readonly patient: string | null;
  /** IANA zone of dates without a time. */
  readonly timeZone: string;
}

const UNKNOWN = 'unknown';
/** Of what has no clinical content, or serves other resources as their medication, location and so on. */
const NOT_BY_ITSELF = 'is not imported by itself';

/** The type of a resource, or `unknown` for an invalid type name. */
export function typeOf(resource: JsonObject): string {
  const type = textAt(resource, 'resourceType');
  return /^[A-Z][A-Za-z]{1,63}$/.test(type) ? type : UNKNOWN;
}

/** Maps a resource; a string result is the reason why nothing is stored. */
export function mapResource({ patient, ...given }: ResourceToMap): readonly Outcome[] {
  const context = { ...given, resourceType: typeOf(given.resource) };
  try {
    if (context.resourceType === 'Patient') return mapThePatient(context, patient);
    return mapFact(context, patient);
  } catch (error) {
    if (error instanceof Refused) return [{ kind: 'refused', reason: error.message }];
    throw error;
  }
}

function mapThePatient(context: MappingContext, patient: string | null): readonly Outcome[] {
  const { fullUrl, resource } = context;
  if (patient !== null && idOf(fullUrl, resource) !== patient) {
    return [{ kind: 'left-out', reason: 'about another patient' }];
  }
  checkModifiers(resource);
  return mapPatient(context);
}

function mapFact(context: MappingContext, patient: string | null): readonly Outcome[] {
  const { resource, resourceType, references } = context;
  const mapper = MAPPERS.get(resourceType) ?? (hasEhrSummary(resourceType) ? mapEhrRecord : undefined);
  if (resourceType === UNKNOWN) throw new Refused('resource type is unknown');
  if (mapper === undefined) return [{ kind: 'left-out', reason: NOT_BY_ITSELF }];
  checkSubject(resource, references, patient);
  checkModifiers(resource);
  if (isAboutNothing(context)) return [{ kind: 'left-out', reason: NOTHING }];
  return mapper(context);
}

export const NOTHING = 'states that nothing is known';
const TOPICS = ['code', 'vaccineCode', 'medicationCodeableConcept', 'type'];

function isAboutNothing({ resource, resourceType, references }: MappingContext): boolean {
  if (resourceType === 'Observation') return false;
  const medication = { text: references.nameOf(at(resource, 'medicationReference'), resource) };
  return [...TOPICS.map((member) => at(resource, member)), medication].some(statesAbsence);
}

const OLDER = 'is DSTU2 or STU3, of which only what R4 names alike is imported';

interface ResourceImportOptions {
  readonly references: References;
  /** The imported patient; null if the input names none. */
  readonly patient: string | null;
  /** IANA zone of dates without a time. */
  readonly timeZone: string;
}

/** A resource with its position. */
interface PlacedResource {
  readonly resource: JsonObject;
  readonly fullUrl: string;
  readonly origin: string;
}

/** Maps resources one after the other and passes the results to a sink. */
export class ResourceImport {
  readonly #options: ResourceImportOptions;
  readonly #blood: BloodFacts[] = [];
  #older: string | null = null;

  constructor(options: ResourceImportOptions) {
    this.#options = options;
  }

  take({ resource, fullUrl, origin }: PlacedResource, sink: ImportSink): void {
    const { references, patient, timeZone } = this.#options;
    if (isOlderThanR4(resource)) this.#older ??= origin;
    for (const outcome of mapResource({ resource, fullUrl, references, patient, timeZone })) {
      if (outcome.kind === 'blood') this.#blood.push(outcome.facts);
      else sink.take(outcome, typeOf(resource), origin);
    }
  }

  /** Passes on the results that depend on all resources together. */
  finish(sink: ImportSink): void {
    const bloodType = findBloodType(this.#blood);
    if (bloodType !== null) sink.take({ kind: 'profile', facts: { bloodType } }, 'Patient', '');
    if (this.#older !== null) sink.take({ kind: 'refused', reason: OLDER }, 'FHIR version', this.#older);
  }
}

/** A resource of an input with its place, or why there is none: nothing for an empty line. */
export interface PlacedItem extends Omit<PlacedResource, 'resource'> {
  readonly resource: JsonObject | null;
  readonly problem: string;
  /** Position after it. */
  readonly end: number;
}

interface ResourceInput extends Pick<ImportRequest, 'patient' | 'onChecked'> {
  /** What the input, and one item of it, is called in messages. */
  readonly input: string;
  readonly item: string;
  readonly files: readonly string[];
  readonly size: number;
  /** All items, from the beginning. */
  readonly read: () => AsyncIterable<PlacedItem>;
}

/**
 * Opens an input of resources. It is read twice: first to check that it is complete and to learn its patients and references, then to map
 * and send them. Nothing of a damaged input is stored.
 */
export async function openResources(given: ResourceInput): Promise<ImportSource> {
  const { input, item: type, files, size, read, onChecked } = given;
  const references = new References();
  for await (const { fullUrl, resource, end } of read()) {
    if (resource !== null) references.add(fullUrl, resource);
    onChecked(end, size);
  }
  const patient = choosePatient(references, given.patient, input);
  return {
    files,
    size,
    async read(sink, from, timeZone) {
      const resources = new ResourceImport({ references, patient, timeZone });
      await takeFrom(from, read(), sink, ({ resource, problem, ...place }, to) => {
        if (resource !== null) resources.take({ ...place, resource }, to);
        else if (problem === '') to.take({ kind: 'left-out', reason: 'empty' }, type, place.origin);
        else to.take({ kind: 'refused', reason: problem }, type, place.origin);
      });
      resources.finish(sink);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
