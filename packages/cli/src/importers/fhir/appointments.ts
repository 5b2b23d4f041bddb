import { Refused } from '../ingest/importer.ts';
import { conceptText } from './concepts.ts';
import { parseZonedInstant } from './dates.ts';
import { at, type JsonObject, listAt, shorten, textAt } from './json-values.ts';
import { type MappingContext, type Outcome, toHealthRecord } from './outcome.ts';
import type { References } from './references.ts';

const NOT_TAKING_PLACE: ReadonlySet<string> = new Set(['cancelled', 'noshow']);
const TITLE_LENGTH = 200;

/** Converts an Appointment, keeping its offset, unless it does not take place. */
export function mapAppointment(context: MappingContext): readonly Outcome[] {
  const { resource, references } = context;
  if (NOT_TAKING_PLACE.has(textAt(resource, 'status')))
    throw new Refused('appointment was cancelled or missed');
  const start = textAt(resource, 'start');
  if (start === '') throw new Refused('date is missing');
  const value = {
    title: titleOf(resource),
    dateTime: parseZonedInstant(start),
    specialty: conceptText(at(resource, 'specialty', 0)),
    location: locationOf(resource, references),
  };
  return [toHealthRecord(context, 'appointment', { case: 'appointment', value })];
}

function titleOf(resource: JsonObject): string {
  const title =
    textAt(resource, 'description') ||
    conceptText(at(resource, 'serviceType', 0)) ||
    conceptText(at(resource, 'appointmentType')) ||
    conceptText(at(resource, 'reasonCode', 0));
  return shorten(title || 'Appointment', TITLE_LENGTH);
}

/** The location among the participants; people are omitted. */
function locationOf(resource: JsonObject, references: References): string {
  const places = listAt(resource, 'participant')
    .map((participant) => at(participant, 'actor'))
    .filter((actor) => isLocation(actor, resource, references))
    .map((actor) => references.nameOf(actor, resource));
  return places.find((name) => name !== '') ?? '';
}

function isLocation(actor: unknown, owner: JsonObject, references: References): boolean {
  const target = textAt(actor, 'reference');
  if (target.startsWith('#')) {
    const contained = listAt(owner, 'contained').find((each) => textAt(each, 'id') === target.slice(1));
    return textAt(contained, 'resourceType') === 'Location';
  }
  return textAt(actor, 'type') === 'Location' || references.canonical(target).startsWith('Location/');
}
