import { CONDITION_CATEGORY } from '@phds/catalog/fhir/observation-kinds';
import { PATIENT_PROFILE } from '@phds/catalog/fhir/resource-types';
import { formatWithOffset } from '../dates.ts';
import type { Profile } from '../profiles.ts';
import type { Stored } from '../record-kinds.ts';
import type { NamedDose } from '../records.ts';
import { codeableOf, type Identity, severityOf, UNKNOWN } from './observations.ts';

// The resources besides Observations (R4). `undefined` leaves an element out.

interface Subject {
  readonly reference: string;
}

function begin<Type extends string>(resourceType: Type, { id }: Identity) {
  return { resourceType, id };
}

function subjectOf({ patientId }: Identity): Subject {
  return { reference: `Patient/${patientId}` };
}

function textOf(text: string | null): { readonly text: string } | undefined {
  return text === null ? undefined : { text };
}

function listOf<Item>(item: Item | undefined): Item[] | undefined {
  return item === undefined ? undefined : [item];
}

/** `sub` identifies the person to the app, in the system of the address of the interface. */
export function toPatient(identity: Identity, profile: Profile, sub: string, base: string): object {
  const { name, gender, dateOfBirth } = profile;
  const isUsCore = name !== null && gender !== null;
  return {
    ...begin('Patient', identity),
    meta: isUsCore ? { profile: [PATIENT_PROFILE] } : undefined,
    identifier: [{ system: `${base}/sub`, value: sub }],
    // The parts of the name are not stored.
    name: name === null ? undefined : [{ text: name, _family: UNKNOWN }],
    gender: gender ?? undefined,
    birthDate: dateOfBirth ?? undefined,
  };
}

/** Whether it is active is not stored, so it is not claimed. */
export function toCondition(identity: Identity, condition: Stored<'condition'>): object {
  const { name, severity, sinceDate } = condition;
  return {
    ...begin('Condition', identity),
    clinicalStatus: UNKNOWN,
    category: [codeableOf(CONDITION_CATEGORY, 'problem-list-item')],
    severity: severity === null ? undefined : severityOf(severity),
    code: { text: name },
    subject: subjectOf(identity),
    onsetDateTime: sinceDate ?? undefined,
  };
}

export function toAllergy(identity: Identity, allergy: Stored<'allergy'>): object {
  const { name, severity, sinceDate } = allergy;
  return {
    ...begin('AllergyIntolerance', identity),
    clinicalStatus: UNKNOWN,
    code: { text: name },
    patient: subjectOf(identity),
    onsetDateTime: sinceDate ?? undefined,
    // A severity is that of a reaction, which is required to have a manifestation.
    reaction: severity === null ? undefined : [{ manifestation: [UNKNOWN], severity }],
  };
}

const TIMING = 'http://terminology.hl7.org/CodeSystem/v3-GTSAbbreviation';
/** For a rhythm that has no abbreviation. */
const OTHER = codeableOf('http://terminology.hl7.org/CodeSystem/v3-NullFlavor', 'OTH');

/** Whether it is still taken is not stored. */
export function toMedicationRequest(identity: Identity, medication: Stored<'medication'>): object {
  const { name, dosage, frequency, condition, pattern } = medication;
  const coded = pattern === 'OTHER' ? OTHER : pattern && pattern !== 'PRN' && codeableOf(TIMING, pattern);
  const timing = coded || frequency !== null ? { code: { ...coded, ...textOf(frequency) } } : undefined;
  const asNeededBoolean = pattern === 'PRN' ? true : undefined;
  const dose = dosage !== null || timing !== undefined || asNeededBoolean;
  return {
    ...begin('MedicationRequest', identity),
    status: 'unknown',
    intent: 'plan',
    reportedBoolean: true,
    medicationCodeableConcept: { text: name },
    subject: subjectOf(identity),
    reasonCode: listOf(textOf(condition)),
    dosageInstruction: dose ? [{ ...textOf(dosage), timing, asNeededBoolean }] : undefined,
  };
}

/** `requestId` is the id of the medication. Pending doses are not administrations. */
export function toMedicationAdministration(identity: Identity, dose: NamedDose, requestId: string): object {
  const { medication, at, status, takenAt, dose: amount, reason } = dose;
  const isTaken = status === 'taken';
  const reasons = listOf(textOf(reason));
  return {
    ...begin('MedicationAdministration', identity),
    status: isTaken ? 'completed' : 'not-done',
    statusReason: isTaken ? undefined : [{ text: status }, ...(reasons ?? [])],
    medicationCodeableConcept: { text: medication },
    subject: subjectOf(identity),
    effectiveDateTime: ((isTaken ? takenAt : null) ?? at).toISOString(),
    request: { reference: `MedicationRequest/${requestId}` },
    note: isTaken ? reasons : undefined,
    // An amount in words; mad-1 requires a quantity.
    dosage: amount === null ? undefined : { text: amount, dose: UNKNOWN },
  };
}

/** The largest offset that FHIR allows, in minutes. */
const OFFSET_MAX = 14 * 60;

/** The end is not stored (app-2 requires one). */
export function toAppointment(identity: Identity, appointment: Stored<'appointment'>): object {
  const { title, startsAt, offsetMinutes, specialty, location } = appointment;
  const place = location === null ? [] : [{ actor: { type: 'Location', display: location } }];
  return {
    ...begin('Appointment', identity),
    status: 'booked',
    specialty: listOf(textOf(specialty)),
    description: title,
    start: formatWithOffset(startsAt, Math.abs(offsetMinutes) > OFFSET_MAX ? 0 : offsetMinutes),
    _end: UNKNOWN,
    participant: [{ actor: subjectOf(identity) }, ...place].map((one) => ({ ...one, status: 'accepted' })),
  };
}

/** A summary of a period. */
export function toDiagnosticReport(identity: Identity, report: Stored<'report'>): object {
  const { rangeFrom, rangeTo, generatedAt, summary } = report;
  return {
    ...begin('DiagnosticReport', identity),
    status: 'final',
    code: { text: 'Health report' },
    subject: subjectOf(identity),
    effectivePeriod: { start: rangeFrom, end: rangeTo },
    issued: generatedAt.toISOString(),
    conclusion: summary,
  };
}

/** The summary of a record of an EHR system; the record itself is not stored. */
export function toDocumentReference(identity: Identity, record: Stored<'ehrRecord'>): object {
  const { resourceType, summary, occurredAt } = record;
  return {
    ...begin('DocumentReference', identity),
    status: 'current',
    type: { text: resourceType },
    subject: subjectOf(identity),
    date: occurredAt.toISOString(),
    content: [{ attachment: { contentType: 'text/plain', data: Buffer.from(summary).toString('base64') } }],
  };
}
