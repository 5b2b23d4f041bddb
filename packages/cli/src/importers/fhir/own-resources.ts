import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { OWN_SYSTEMS } from '@phds/catalog/fhir/observation-kinds';
import { FHIR_PREFIX } from '@phds/catalog/fhir/resource-types';
import { parseMoment } from './dates.ts';
import { at, type JsonObject, listAt, textAt } from './json-values.ts';
import { type Mapper, type MappingContext, type Outcome, toHealthRecord } from './outcome.ts';

// What the FHIR interface of this service writes is read back field by field. Its Observations have a code of ours; where resources
// have no code, the form of their ids tells.

/** Our code of what an Observation was made from; empty for an Observation of another system. */
export function ownCodeOf(concept: unknown): string {
  const own = listAt(concept, 'coding').find((coding) =>
    textAt(coding, 'system').endsWith(`${FHIR_PREFIX}/${OWN_SYSTEMS.metric}`),
  );
  return textAt(own, 'code');
}

/** Whether the id of a resource besides an Observation has the form of ours. */
export function isOwn(resource: JsonObject): boolean {
  return /^(?:med|adh|rpt|ehr)-[0-9a-f]{32}$/.test(textAt(resource, 'id'));
}

/** A text with its line breaks; empty if there is none. */
export function wholeTextAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** The mappers for types that are mapped to something else if they are of another system. */
export const OWN_MAPPERS: ReadonlyMap<string, Mapper> = new Map([
  ['MedicationAdministration', mapDose],
  ['DiagnosticReport', mapReport],
  ['DocumentReference', mapDocument],
]);

function mapDose(context: MappingContext): readonly Outcome[] {
  const { resource, references } = context;
  const isTaken = textAt(resource, 'status') === 'completed';
  const time = momentAt(context, 'effectiveDateTime');
  const value = {
    medicationKey: references.canonical(textAt(resource, 'request', 'reference')),
    status: isTaken ? 'taken' : textAt(resource, 'statusReason', 0, 'text'),
    ...(isTaken ? { takenAt: time } : { scheduledAt: time }),
    dose: wholeTextAt(resource, 'dosage', 'text'),
    reason: wholeTextAt(resource, ...(isTaken ? ['note', 0] : ['statusReason', 1]), 'text'),
  };
  return [toHealthRecord(context, 'adherence', { case: 'adherenceEntry', value })];
}

function mapReport(context: MappingContext): readonly Outcome[] {
  const { resource } = context;
  const value = {
    generatedAt: momentAt(context, 'issued'),
    from: textAt(resource, 'effectivePeriod', 'start'),
    to: textAt(resource, 'effectivePeriod', 'end'),
    summary: wholeTextAt(resource, 'conclusion'),
  };
  return [toHealthRecord(context, 'report', { case: 'report', value })];
}

function mapDocument(context: MappingContext): readonly Outcome[] {
  const { resource } = context;
  const resourceType = textAt(resource, 'type', 'text');
  const data = wholeTextAt(resource, 'content', 0, 'attachment', 'data');
  const value = {
    resourceType,
    summary: Buffer.from(data, 'base64').toString(),
    timestamp: momentAt(context, 'date'),
  };
  return [toHealthRecord(context, `ehr-record ${resourceType}`, { case: 'ehrRecord', value })];
}

function momentAt({ resource, timeZone }: MappingContext, member: string) {
  return timestampFromDate(parseMoment(textAt(resource, member), timeZone));
}
