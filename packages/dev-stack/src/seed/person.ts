/** A synthetic person: everything their data is made from. */
export interface Person {
  readonly userId: string;
  readonly profile: {
    readonly name: string;
    readonly gender: 'male' | 'female' | 'other' | 'unknown';
    readonly dateOfBirth: string;
    readonly bloodType: string;
  };
  /** IANA zone. */
  readonly timeZone: string;
  /** How many days of data there are. */
  readonly days: number;
  readonly body: Body;
}

/** What a person's readings scatter around. */
export interface Body {
  /** Beats a minute. */
  readonly restingHeartRate: number;
  readonly hrvMs: number;
  readonly systolic: number;
  readonly diastolic: number;
  readonly spo2: number;
  readonly breathsPerMinute: number;
  /** mg/dL before breakfast, and how much a meal adds. */
  readonly fastingGlucose: number;
  readonly mealGlucose: number;
  readonly stepsPerDay: number;
  /** kcal a day at rest. */
  readonly basalCalories: number;
  /** Minutes after midnight, and minutes asleep. */
  readonly wakesAt: number;
  readonly sleepMinutes: number;
  readonly weightKg: number;
  /** kg gained (or lost) over all the days. */
  readonly weightChangeKg: number;
  readonly heightCm: number;
  readonly bodyFatPercent: number;
}

/** Works in an office, runs twice a week, sleeps well; a little asthma. */
export const ADA: Person = {
  userId: 'ada',
  profile: { name: 'Ada Sommer', gender: 'female', dateOfBirth: '1987-03-14', bloodType: 'A+' },
  timeZone: 'Europe/Berlin',
  days: 90,
  body: {
    restingHeartRate: 58,
    hrvMs: 52,
    systolic: 114,
    diastolic: 73,
    spo2: 97.6,
    breathsPerMinute: 14.2,
    fastingGlucose: 86,
    mealGlucose: 34,
    stepsPerDay: 9_400,
    basalCalories: 1_390,
    wakesAt: 6 * 60 + 40,
    sleepMinutes: 445,
    weightKg: 64.2,
    weightChangeKg: -1.1,
    heightCm: 168.4,
    bodyFatPercent: 25.3,
  },
};

/** Retired, with high blood pressure and type 2 diabetes, both treated. */
export const GRACE: Person = {
  userId: 'grace',
  profile: { name: 'Grace Miller', gender: 'female', dateOfBirth: '1957-11-02', bloodType: 'O-' },
  timeZone: 'America/New_York',
  days: 90,
  body: {
    restingHeartRate: 71,
    hrvMs: 24,
    systolic: 138,
    diastolic: 84,
    spo2: 95.9,
    breathsPerMinute: 16.4,
    fastingGlucose: 128,
    mealGlucose: 62,
    stepsPerDay: 4_700,
    basalCalories: 1_310,
    wakesAt: 5 * 60 + 55,
    sleepMinutes: 385,
    weightKg: 79.8,
    weightChangeKg: -2.4,
    heightCm: 161.2,
    bodyFatPercent: 37.6,
  },
};

/** Name and time zone of the user with little data; their readings are listed one by one. */
export const SPARSE = {
  userId: 'sparse',
  profile: { name: 'Sam Reed', gender: 'other' },
  timeZone: 'Asia/Tokyo',
} as const;
