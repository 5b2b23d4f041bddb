import { Refused } from '../ingest/refused.ts';
import { mapAllergy } from './allergies.ts';
import { mapAppointment } from './appointments.ts';
import { mapCondition } from './conditions.ts';
import { hasEhrSummary, mapEhrRecord } from './ehr-summaries.ts';
import { type JsonObject, textAt } from './json-values.ts';
import { LEFT_OUT } from './left-out.ts';
import { mapMedication } from './medications.ts';
import { mapObservation } from './observations.ts';
import type { Mapper, MappingContext, Outcome } from './outcome.ts';
import { mapPatient } from './patients.ts';
import { idOf, type References } from './references.ts';
import { checkSubject } from './subjects.ts';

// Types with a resource of their own in our API (interface.md 2.2). They are stored only there: a partner with `read:ehr` must not
// get medications through the EHR list.
const MAPPERS: ReadonlyMap<string, Mapper> = new Map([
  ['Observation', mapObservation],
  ['Condition', mapCondition],
  ['AllergyIntolerance', mapAllergy],
  ['MedicationRequest', mapMedication],
  ['MedicationStatement', mapMedication],
  ['Appointment', mapAppointment],
]);

const VOID: ReadonlyMap<string, string> = new Map([
  ['entered-in-error', 'entered in error'],
  ['not-done', 'was not done'],
  ['nullified', 'entered in error'],
  ['cancelled', 'was cancelled'],
  ['rejected', 'was rejected'],
]);
const STATUS_MEMBERS = ['status', 'lifecycleStatus', 'docStatus'];

/** A resource of the bundle with the imported patient (null if the bundle names none). */
export interface ResourceToMap {
  readonly resource: JsonObject;
  readonly fullUrl: string;
  readonly references: References;
  readonly patient: string | null;
}

/** The type of a resource, or `unknown` for an invalid type name. */
export function typeOf(resource: JsonObject): string {
  const type = textAt(resource, 'resourceType');
  return /^[A-Z][A-Za-z]{1,63}$/.test(type) ? type : 'unknown';
}

/** Maps a resource; a string result is the reason why nothing is stored. */
export function mapResource({ resource, fullUrl, references, patient }: ResourceToMap): readonly Outcome[] {
  const context = { resource, resourceType: typeOf(resource), fullUrl, references };
  const leftOut = LEFT_OUT.get(context.resourceType);
  if (leftOut !== undefined) return [{ kind: 'left-out', reason: leftOut }];
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
  return mapPatient(context);
}

function mapFact(context: MappingContext, patient: string | null): readonly Outcome[] {
  const { resource, resourceType, references } = context;
  const mapper = MAPPERS.get(resourceType) ?? (hasEhrSummary(resourceType) ? mapEhrRecord : undefined);
  if (mapper === undefined) throw new Refused('resource type is unknown');
  checkSubject(resource, references, patient);
  for (const member of STATUS_MEMBERS) {
    const reason = VOID.get(textAt(resource, member));
    if (reason !== undefined) throw new Refused(reason);
  }
  return mapper(context);
}
