import type { EndpointScope } from '../endpoints.ts';

/** Key of a heading for scopes. */
export type ScopeCategory =
  | 'vital-signs'
  | 'activity-sleep-body'
  | 'mind-mood'
  | 'summaries'
  | 'medical-history'
  | 'about-you';

interface TitledText {
  readonly title: string;
  /** One plain sentence, addressed to the person who decides. */
  readonly description: string;
}

/** All texts about scopes in one language. */
export interface CatalogTexts {
  readonly categories: Readonly<Record<ScopeCategory, string>>;
  readonly scopes: Readonly<Record<EndpointScope, TitledText>>;
}

export const EN: CatalogTexts = {
  categories: {
    'vital-signs': 'Vital signs',
    'activity-sleep-body': 'Activity, sleep and body',
    'mind-mood': 'Mind and mood',
    summaries: 'Summaries',
    'medical-history': 'Medical history',
    'about-you': 'About you',
  },
  scopes: {
    'read:health-data:heart': {
      title: 'Heart',
      description:
        'Your heart rate, including at rest and while walking, its variability, and the heart rate of your ECGs.',
    },
    'read:health-data:blood-pressure': {
      title: 'Blood pressure',
      description: 'Your blood pressure readings, upper and lower value.',
    },
    'read:health-data:oxygen': {
      title: 'Blood oxygen',
      description: 'The oxygen saturation of your blood.',
    },
    'read:health-data:respiratory': {
      title: 'Breathing',
      description: 'How many breaths you take per minute, measured by a device or entered by a person.',
    },
    'read:health-data:glucose': {
      title: 'Blood glucose',
      description: 'Your blood sugar readings.',
    },
    'read:health-data:temperature': {
      title: 'Body temperature',
      description: 'Your body temperature readings.',
    },
    'read:health-data:activity': {
      title: 'Activity',
      description:
        'Your steps, distance, energy burned, exercise minutes and flights climbed, but no places or routes.',
    },
    'read:health-data:sleep': {
      title: 'Sleep',
      description: 'When and how long you slept, your sleep phases, and the time you were awake or in bed.',
    },
    'read:health-data:body-composition': {
      title: 'Body measurements',
      description: 'Every weight you recorded, your height, body mass index and body fat.',
    },
    'read:health-data:mindfulness': {
      title: 'Mindfulness',
      description: 'When and how long you meditated or practised mindfulness.',
    },
    'read:aggregations': {
      title: 'Summary of all health data',
      description:
        'Covers everything you measure, including types you have not selected: latest, lowest, highest and average values of each hour or day. With one reading in an hour, that is the reading.',
    },
    'read:trends': {
      title: 'Trends of all health data',
      description:
        'Covers everything you measure, including types you have not selected: latest, lowest, highest and average values of each hour or day. With one reading in an hour, that is the reading.',
    },
    'read:symptoms': {
      title: 'Symptoms',
      description: 'The symptoms you recorded, in your own words, with their severity and time.',
    },
    'read:medications': {
      title: 'Medications',
      description: 'Your medications, what they are for, and when you took or missed them.',
    },
    'read:conditions': {
      title: 'Conditions',
      description: 'The illnesses and conditions you have or had, how severe they are, and since when.',
    },
    'read:allergies': {
      title: 'Allergies',
      description: 'Your allergies, how severe they are, and since when.',
    },
    'read:appointments': {
      title: 'Appointments',
      description: 'Your past and upcoming medical appointments: when, where and with which specialty.',
    },
    'read:weight': {
      title: 'Weight by day',
      description: 'Your weight, one value per day.',
    },
    'read:mood': {
      title: 'Mood',
      description: 'How you felt and when, with the notes you wrote about it.',
    },
    'read:reports': {
      title: 'Report summaries',
      description: 'The summaries of your health reports and the dates they cover.',
    },
    'read:profile': {
      title: 'Profile',
      description: 'Your name, gender, date of birth and blood type.',
    },
    'read:ehr': {
      title: 'Records from your care providers',
      description:
        'Short summaries of records from your doctors and hospitals, which may be about any part of your health.',
    },
  },
};
