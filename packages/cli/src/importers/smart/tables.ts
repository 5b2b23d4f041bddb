interface Table {
  /** A table without one of these columns is not of this kind. */
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** The tables in reading order, with the columns that are used. Other columns are ignored. */
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

/** The trimmed text in a column; empty if the table has none. */
export type Cells<Name extends TableName> = (column: ColumnOf<Name>) => string;

export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

/** The cells of a row of any table. */
export type AnyCells = (column: ColumnOf<TableName>) => string;
