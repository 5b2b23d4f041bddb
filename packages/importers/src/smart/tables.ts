interface Table {
  /** A table without one of these is none of this kind. */
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** The tables in the order in which they are read, with the columns that are used; the others are not looked at. */
export const TABLES = {
  patients: { required: ['PID'], optional: ['fname', 'initial', 'lname', 'gender', 'dob'] },
  problems: { required: ['PID', 'NAME', 'START_DATE'], optional: ['ID', 'SNOMED'] },
  allergies: {
    required: ['PID', 'STATEMENT', 'ALLERGEN'],
    optional: ['ID', 'START_DATE', 'REACTION', 'SEVERITY'],
  },
  meds: {
    required: ['PID', 'Name'],
    optional: [
      'ID',
      'RxNorm',
      'SIG',
      'Q_TO_TAKE_VALUE',
      'Q_TO_TAKE_UNIT',
      'FREQUENCY_VALUE',
      'FREQUENCY_UNIT',
    ],
  },
  refills: { required: ['PID', 'DATE', 'RXN'], optional: ['ID', 'DAYS', 'Q'] },
  vitals: {
    required: ['PID', 'TIMESTAMP'],
    optional: [
      'ID',
      'HEART_RATE',
      'RESPIRATORY_RATE',
      'TEMPERATURE',
      'WEIGHT',
      'HEIGHT',
      'BMI',
      'SYSTOLIC',
      'DIASTOLIC',
      'OXYGEN_SATURATION',
      'HEAD_CIRCUMFERENCE',
    ],
  },
} as const satisfies Record<string, Table>;

export type TableName = keyof typeof TABLES;
export type ColumnOf<Name extends TableName> = (typeof TABLES)[Name]['required' | 'optional'][number];

/** The text in a column, without spaces around it; empty where the table says nothing. */
export type Cells<Name extends TableName> = (column: ColumnOf<Name>) => string;

export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

/** The cells of a row of whichever table. */
export type AnyCells = (column: ColumnOf<TableName>) => string;
