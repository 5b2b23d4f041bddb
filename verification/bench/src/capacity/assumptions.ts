/** What the capacity page assumes; everything else on it is measured. */
export const ASSUMPTIONS = {
  /** People for each request a second: 86 requests a person and day. */
  peoplePerRequest: 1_000,
  /** Reads for each refresh of a token. */
  readsPerRefresh: 10,
  /** Apps that a person has connected, and days until each is connected again. */
  appsPerPerson: 3,
  daysPerConnection: 365,
  readingsPerPersonAndDay: 200,
  /** Endpoints and scopes that an app reads of a person on one day: rows of daily counts. */
  countsPerAppAndDay: 2,
  /** Share of the pairs of person and app that read within the ten minutes that Redis remembers. */
  activePairs: 0.2,
  /** How busy a core may be on average, so that bursts are served. */
  utilisation: 0.6,
  /** Seconds between two checkpoints of Postgres. */
  checkpointSeconds: 900,
  /** Bytes of an index entry with its pointer, by person and id. */
  indexEntryBytes: 40,
  /** Share of a leaf page that is filled when entries arrive in no order. */
  leafFill: 0.7,
  /** Share of the pages that a statement reads which are leaves of an index or rows; the rest are upper levels or seen twice. */
  leafShare: 0.2,
} as const;

export type Assumptions = { readonly [Name in keyof typeof ASSUMPTIONS]: number };

/** A server of a size that is sold everywhere. What a database needs is compared with it. */
export const SERVER = {
  cores: 32,
  memoryBytes: 256e9,
  diskBytes: 8e12,
  /** WAL bytes a second that a standby can follow. */
  walBytesPerSecond: 200e6,
  /** Random pages read from disk a second. */
  pagesPerSecond: 100_000,
  connections: 500,
} as const;

export type Server = { readonly [Name in keyof typeof SERVER]: number };

export const RATES = [1, 100, 10_000] as const;
