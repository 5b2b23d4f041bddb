import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { bodyOf, type Harness } from './harness.ts';

export type About = Awaited<ReturnType<Harness['about']>>;

const list =
  (request: { endpoint: Endpoint; category?: string }) =>
  ({ reads }: Harness, about: About) =>
    reads.read(request, about);

/** The lists whose items have ids, as an app reads them; adherence uses the first medication. */
export const LISTS = {
  readings: list({ endpoint: Endpoint.HEALTH_DATA, category: 'heart' }),
  weight: list({ endpoint: Endpoint.WEIGHT }),
  symptoms: list({ endpoint: Endpoint.SYMPTOMS }),
  medications: list({ endpoint: Endpoint.MEDICATIONS }),
  conditions: list({ endpoint: Endpoint.CONDITIONS }),
  allergies: list({ endpoint: Endpoint.ALLERGIES }),
  appointments: list({ endpoint: Endpoint.APPOINTMENTS }),
  mood: list({ endpoint: Endpoint.MOOD }),
  reports: list({ endpoint: Endpoint.REPORTS }),
  ehr: list({ endpoint: Endpoint.EHR }),
  adherence: async ({ reads }: Harness, about: About) => {
    const [medication] = bodyOf(await reads.read({ endpoint: Endpoint.MEDICATIONS }, about)).data;
    return reads.read({ endpoint: Endpoint.ADHERENCE, medicationId: medication.id }, about);
  },
};

export type ListName = keyof typeof LISTS;

export const LIST_NAMES = Object.keys(LISTS) as ListName[];
