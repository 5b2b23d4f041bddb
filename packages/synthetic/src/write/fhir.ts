import { SEVERITY_CODES, SNOMED } from '@phds/catalog/fhir/code-systems';
import { LOINC, UCUM } from '@phds/catalog/fhir/observation-kinds';
import { METRICS, type Metric, type MetricName } from '@phds/catalog/metrics';
import { DAY_MS, formatInstant, HOUR_MS, toInstant } from '../calendar.ts';
import type { CareRecord, Medication, StandingFact } from '../person.ts';
import type { SyntheticReading } from '../reading.ts';
import type { Timeline } from '../timeline.ts';

/** Writes a FHIR R4 collection bundle, one entry a line. */
export function* writeFhirBundle(timeline: Timeline): Generator<string> {
  yield '{"resourceType":"Bundle","type":"collection","entry":[';
  let separator = '\n';
  for (const resource of toResources(timeline)) {
    const { resourceType, id } = resource as { resourceType: string; id: string };
    const fullUrl = `${BASE_URL}${resourceType}/${id}`;
    yield `${separator}${JSON.stringify({ fullUrl, resource })}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}

/** Writes FHIR R4 resources, one a line, as in bulk exports. */
export function* writeFhirLines(timeline: Timeline): Generator<string> {
  for (const resource of toResources(timeline)) yield `${JSON.stringify(resource)}\n`;
}

const BASE_URL = 'https://synthetic.example/fhir/';

function* toResources(timeline: Timeline): Generator<object> {
  yield* toHistoryResources(timeline);
  yield* toObservations(timeline);
}

const metrics = new Map<MetricName, Metric>(METRICS.map((metric) => [metric.name, metric]));

/**
 * Whether a clinical record contains a reading: its type has a LOINC code of its own, and if two devices measure the same quantity,
 * it is the watch's. Device-measured and manually counted breaths share a code; only the latter are included.
 */
export function isInFhir({ type, source }: SyntheticReading): boolean {
  if (type === 'Respiratory Rate' || (type === 'Steps' && source === 'iphone')) return false;
  return (metrics.get(type)?.loinc ?? null) !== null;
}

/** Converts the readings to Observations. A blood pressure is one Observation with two components. */
function* toObservations(timeline: Timeline): Generator<object> {
  for (const { readings, timeZone } of timeline.batches()) {
    for (const reading of readings) {
      if (!isInFhir(reading) || reading.type === 'BP Diastolic') continue;
      const { type, start, value } = reading;
      const content =
        type === 'Blood Pressure'
          ? toPanel(readings.filter((each) => each.start === start))
          : { code: codeOf(type), valueQuantity: toQuantity(type, value) };
      yield { ...toBasis(reading, timeline.person.id, timeZone), ...content };
    }
  }
}

function toBasis({ type, start, end }: SyntheticReading, patient: string, timeZone: string): object {
  const key = metrics.get(type)?.key ?? '';
  const from = formatInstant(start, timeZone);
  return {
    resourceType: 'Observation',
    id: `${key}-${start / 1000}${end === start ? '' : `-${end / 1000}`}`,
    status: 'final',
    subject: { reference: `Patient/${patient}` },
    ...(end === start
      ? { effectiveDateTime: from }
      : { effectivePeriod: { start: from, end: formatInstant(end, timeZone) } }),
  };
}

function toPanel(pair: readonly SyntheticReading[]): object {
  const component = pair.map(({ type, value }) => ({
    code: codeOf(type),
    valueQuantity: toQuantity(type, value),
  }));
  return { code: toCode('85354-9', 'Blood pressure panel'), component };
}

function codeOf(type: MetricName): object {
  return toCode(metrics.get(type)?.loinc ?? '', type);
}

function toCode(code: string, text: string): object {
  return { coding: [{ system: LOINC, code }], text };
}

function toQuantity(type: MetricName, value: number): object {
  const unit = metrics.get(type)?.unit ?? '';
  return { value, unit, system: UCUM, code: unit };
}

/** The patient, and the resources that are not measurements. */
function* toHistoryResources(timeline: Timeline): Generator<object> {
  const { person } = timeline;
  const { conditions, allergies, medications, appointments, careRecords } = person.history;
  if (person.profile !== null) yield toPatient(timeline);
  const subject = { reference: `Patient/${person.id}` };
  for (const fact of conditions) yield toCondition(fact, subject);
  for (const fact of allergies) yield toAllergy(fact, subject);
  for (const medication of medications) yield toMedication(medication, subject);
  for (const [index, { title, inDays, hour, specialty, location }] of appointments.entries()) {
    yield {
      resourceType: 'Appointment',
      id: `appointment-${index + 1}`,
      status: inDays < 0 ? 'fulfilled' : 'booked',
      description: title,
      start: toTime(timeline, inDays, hour),
      specialty: [{ text: specialty }],
      participant: [
        { actor: subject, status: 'accepted' },
        { actor: { type: 'Location', display: location }, status: 'accepted' },
      ],
    };
  }
  for (const [index, record] of careRecords.entries()) {
    yield {
      resourceType: record.resourceType,
      id: `care-${index + 1}`,
      ...toCareContent(record, toTime(timeline, record.inDays, 11), subject),
    };
  }
}

function toTime({ lastDay, person }: Timeline, inDays: number, hour: number): string {
  const wall = (lastDay + inDays) * DAY_MS + hour * HOUR_MS;
  return formatInstant(toInstant(wall, person.timeZone), person.timeZone);
}

function toPatient({ person: { id, profile } }: Timeline): object {
  const [given = '', ...family] = (profile?.name ?? '').split(' ');
  return {
    resourceType: 'Patient',
    id,
    name: [{ use: 'official', family: family.join(' '), given: [given] }],
    gender: profile?.gender,
    birthDate: profile?.dateOfBirth,
  };
}

function toCondition({ name, severity, sinceDate }: StandingFact, subject: object): object {
  return {
    resourceType: 'Condition',
    id: toId('condition', name),
    subject,
    clinicalStatus: toStatus('condition-clinical', 'active'),
    code: { text: name },
    ...(severity === ''
      ? {}
      : {
          severity: {
            coding: [{ system: SNOMED, code: SEVERITY_CODES[severity] }],
            text: severity,
          },
        }),
    ...(sinceDate === '' ? {} : { onsetDateTime: sinceDate }),
  };
}

function toAllergy({ name, severity, sinceDate }: StandingFact, patient: object): object {
  return {
    resourceType: 'AllergyIntolerance',
    id: toId('allergy', name),
    patient,
    clinicalStatus: toStatus('allergyintolerance-clinical', 'active'),
    code: { text: name },
    ...(severity === '' ? {} : { reaction: [{ manifestation: [{ text: 'Reaction' }], severity }] }),
    ...(sinceDate === '' ? {} : { onsetDateTime: sinceDate }),
  };
}

function toMedication(medication: Medication, subject: object): object {
  const { key, name, dosage, frequency, condition, pattern } = medication;
  const [amount, unit] = dosage.split(' ');
  const timing = { code: { coding: [{ code: pattern }], text: frequency } };
  return {
    resourceType: 'MedicationStatement',
    id: `medication-${key}`,
    status: 'active',
    subject,
    medicationCodeableConcept: { text: name },
    dosage: [
      {
        ...(pattern === 'PRN' ? { asNeededBoolean: true } : { timing }),
        doseAndRate: [{ doseQuantity: { value: Number(amount), unit } }],
      },
    ],
    ...(condition === '' ? {} : { reasonCode: [{ text: condition }] }),
  };
}

function toCareContent({ resourceType, title, finding }: CareRecord, at: string, subject: object): object {
  const text = `${title}: ${finding}`;
  switch (resourceType) {
    case 'Encounter':
      return { status: 'finished', class: { code: 'AMB' }, subject, type: [{ text }], period: { start: at } };
    case 'Observation':
      return {
        status: 'final',
        subject,
        code: { text: title },
        valueString: finding,
        effectiveDateTime: at,
      };
    case 'DiagnosticReport':
      return { status: 'final', subject, code: { text }, effectiveDateTime: at };
    case 'Immunization':
      return { status: 'completed', patient: subject, vaccineCode: { text }, occurrenceDateTime: at };
    case 'Procedure':
      return { status: 'completed', subject, code: { text }, performedDateTime: at };
  }
}

function toStatus(system: string, code: string): object {
  return { coding: [{ system: `http://terminology.hl7.org/CodeSystem/${system}`, code }] };
}

function toId(kind: string, name: string): string {
  return `${kind}-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
}
