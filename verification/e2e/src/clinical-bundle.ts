/** A resource of a FHIR bundle. */
export type Resource = Readonly<Record<string, unknown>> & { readonly resourceType: string };

const PATIENT = 'urn:uuid:5cbc121b-cd71-4428-b8b7-31e53eba8184';
const subject = { reference: PATIENT };

const loinc = (code: string, display: string) => ({
  coding: [{ system: 'http://loinc.org', code, display }],
  text: display,
});
const snomed = (code: string, display: string) => ({
  coding: [{ system: 'http://snomed.info/sct', code, display }],
  text: display,
});
const quantity = (value: number, code: string) => ({
  value,
  unit: code,
  system: 'http://unitsofmeasure.org',
  code,
});

function observation(code: object, effectiveDateTime: string, rest: object): Resource {
  return {
    resourceType: 'Observation',
    status: 'final',
    category: [{ coding: [{ code: 'vital-signs' }] }],
    code,
    subject,
    effectiveDateTime,
    issued: effectiveDateTime,
    ...rest,
  };
}

const measured = (code: string, display: string, time: string, value: number, unit: string) =>
  observation(loinc(code, display), time, { valueQuantity: quantity(value, unit) });

function bloodPressure(time: string, systolic: number, diastolic: number): Resource {
  return observation(loinc('55284-4', 'Blood Pressure'), time, {
    component: [
      { code: loinc('8462-4', 'Diastolic Blood Pressure'), valueQuantity: quantity(diastolic, 'mm[Hg]') },
      { code: loinc('8480-6', 'Systolic Blood Pressure'), valueQuantity: quantity(systolic, 'mm[Hg]') },
    ],
  });
}

/**
 * One resource of each kind, with the peculiarities of synthetic patient generators: long decimals, local offsets, urn:uuid
 * references.
 */
export const CLINICAL_RESOURCES: readonly Resource[] = [
  {
    resourceType: 'Patient',
    name: [{ use: 'official', family: 'Quinn', given: ['Rosa', 'Mae'] }],
    gender: 'female',
    birthDate: '1971-05-09',
  },
  measured('8302-2', 'Body Height', '2018-03-04T09:12:00-05:00', 168.80253764416227, 'cm'),
  measured('29463-7', 'Body Weight', '2018-03-04T09:12:00-05:00', 71.04861, 'kg'),
  measured('29463-7', 'Body Weight', '2020-03-08T09:12:00-04:00', 158.73, '[lb_av]'),
  measured('39156-5', 'Body Mass Index', '2020-03-08T09:12:00-04:00', 25.2768, 'kg/m2'),
  measured('8867-4', 'Heart rate', '2018-03-04T09:12:00-05:00', 74.6, '/min'),
  measured('8867-4', 'Heart rate', '2020-03-08T09:12:00-04:00', 81.2, '/min'),
  measured('9279-1', 'Respiratory rate', '2020-03-08T09:12:00-04:00', 14.04, '/min'),
  measured('8310-5', 'Body temperature', '2020-03-08T09:12:00-04:00', 98.6, '[degF]'),
  measured('2339-0', 'Glucose', '2020-03-08T09:12:00-04:00', 5.5, 'mmol/L'),
  bloodPressure('2018-03-04T09:12:00-05:00', 117.9, 76.2),
  bloodPressure('2020-03-08T09:12:00-04:00', 121.2, 79.4),
  measured('8867-4', 'Heart rate', '2020-03-08T09:12:00-04:00', 900, '/min'),
  measured('2093-3', 'Total Cholesterol', '2020-03-08T09:12:00-04:00', 182.3, 'mg/dL'),
  {
    resourceType: 'Condition',
    clinicalStatus: { coding: [{ code: 'active' }] },
    code: snomed('44054006', 'Diabetes'),
    subject,
    onsetDateTime: '2015-11-02T08:00:00-05:00',
  },
  { resourceType: 'Condition', code: snomed('38341003', 'Hypertension'), subject, onsetDateTime: '2009-04' },
  {
    resourceType: 'AllergyIntolerance',
    criticality: 'high',
    code: snomed('91935009', 'Allergy to peanuts'),
    patient: subject,
    recordedDate: '1973-08-11T00:00:00-04:00',
  },
  {
    resourceType: 'MedicationRequest',
    status: 'active',
    medicationCodeableConcept: { text: 'Metformin 500 MG' },
    subject,
    authoredOn: '2015-11-02T08:00:00-05:00',
    dosageInstruction: [
      {
        timing: { repeat: { frequency: 2, period: 1, periodUnit: 'd' } },
        doseAndRate: [{ doseQuantity: { value: 1, unit: 'tablet' } }],
      },
    ],
  },
  {
    resourceType: 'Appointment',
    status: 'booked',
    description: 'Eye examination',
    start: '2027-02-03T10:30:00+01:00',
    specialty: [{ text: 'Ophthalmology' }],
    participant: [{ actor: subject, status: 'accepted' }],
  },
  {
    resourceType: 'Immunization',
    status: 'completed',
    vaccineCode: { text: 'Influenza, seasonal, injectable' },
    patient: subject,
    occurrenceDateTime: '2019-10-20T09:12:00-04:00',
  },
  {
    resourceType: 'Encounter',
    status: 'finished',
    class: { code: 'AMB' },
    type: [{ text: 'General examination' }],
    subject,
    period: { start: '2020-03-08T09:00:00-04:00', end: '2020-03-08T09:30:00-04:00' },
  },
];

/** Formats a transaction bundle as text. The patient's entry has the URL that the other resources refer to. */
export function toBundle(resources: readonly Resource[]): string {
  const entry = resources.map((resource, index) => ({
    fullUrl:
      resource.resourceType === 'Patient' ? PATIENT : `urn:uuid:00000000-0000-4000-8000-${toSuffix(index)}`,
    resource: { id: resource.resourceType === 'Patient' ? PATIENT.slice(9) : `r-${index}`, ...resource },
    request: { method: 'POST', url: resource.resourceType },
  }));
  return JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry });
}

function toSuffix(index: number): string {
  return String(index).padStart(12, '0');
}
