import { bodyOf, type Harness } from './harness.ts';

export type About = Awaited<ReturnType<Harness['about']>>;

/** The lists whose items have ids, as an app reads them; adherence is that of the first medication. */
export const LISTS = {
  readings: ({ reads }: Harness, about: About) => reads.listReadings({ category: 'heart' }, about),
  weight: ({ reads }: Harness, about: About) => reads.listWeight({}, about),
  symptoms: ({ reads }: Harness, about: About) => reads.listSymptoms({}, about),
  medications: ({ reads }: Harness, about: About) => reads.listMedications({}, about),
  conditions: ({ reads }: Harness, about: About) => reads.listConditions({}, about),
  allergies: ({ reads }: Harness, about: About) => reads.listAllergies({}, about),
  appointments: ({ reads }: Harness, about: About) => reads.listAppointments({}, about),
  mood: ({ reads }: Harness, about: About) => reads.listMood({}, about),
  reports: ({ reads }: Harness, about: About) => reads.listReports({}, about),
  ehr: ({ reads }: Harness, about: About) => reads.listEhr({}, about),
  adherence: async ({ reads }: Harness, about: About) => {
    const [medication] = bodyOf(await reads.listMedications({}, about)).data;
    return reads.listAdherence({ medicationId: medication.id }, about);
  },
};

export type ListName = keyof typeof LISTS;

export const LIST_NAMES = Object.keys(LISTS) as ListName[];
