import { untilAborted } from './clock.ts';
import type { Credentials } from './credentials.ts';
import { isPhdsError } from './errors.ts';
import type { paths } from './generated/openapi.ts';
import type { CallOptions, Http, HttpRequest, Values } from './http.ts';
import { LARGEST_PAGE, List, Pace, type Page, type PageChoice } from './list.ts';
import type { OauthEndpoints } from './oauth.ts';
import type {
  AdherenceEntry,
  Aggregations,
  Allergy,
  Appointment,
  Category,
  Condition,
  EhrRecord,
  Medication,
  MoodEntry,
  Profile,
  Query,
  Reading,
  ReadingQuery,
  Report,
  Symptom,
  TrendPoint,
  WeightEntry,
} from './resources.ts';
import { readChanges, type SyncAnswer, type SyncBatch, type SyncOptions } from './sync.ts';
import type { TokenSet, TokenStore } from './token-store.ts';
import type { Tokens } from './tokens.ts';

/** What a connection uses. */
export interface ConnectionParts {
  readonly http: Http;
  readonly tokens: Tokens;
  readonly store: TokenStore;
  readonly oauth: OauthEndpoints;
  readonly credentials: Credentials;
}

type Asked<Path extends keyof paths> = Query<Path> & CallOptions;

type ListQuery = Values & CallOptions & PageChoice;

/** The data of one person who approved your app. Cheap to create: it holds no tokens itself. */
export class Connection {
  /** The id of the consent grant: what your database keeps for this person. */
  readonly id: string;
  readonly #parts: ConnectionParts;

  constructor(id: string, parts: ConnectionParts) {
    this.id = id;
    this.#parts = parts;
  }

  /** Readings of a category, newest first. */
  healthData(category: Category, query: ReadingQuery & CallOptions = {}): List<Reading> {
    return this.list(`/api/v1/health-data/${encodeURIComponent(category)}`, query);
  }

  /**
   * Every change of a category since the cursor, oldest change first. With CURSOR_EXPIRED, discard your copy and start without one. Keeps
   * within the limits of the service, waits as long as a 429 says unless `retryBudgetMs` is given, and stops with `signal`.
   */
  sync(category: Category, options: SyncOptions = {}): AsyncGenerator<SyncBatch, void, undefined> {
    const { type, pageSize = LARGEST_PAGE, signal, retryBudgetMs } = options;
    const path = `/api/v1/health-data/${encodeURIComponent(category)}`;
    const pace = new Pace(options.onWait);
    return readChanges(options, async (updatedSince) => {
      const query = { updatedSince, type, pageSize };
      return (await this.#read({ path, query, signal, retryBudgetMs, pace })) as SyncAnswer;
    });
  }

  /** A summary of all types: latest value, average, minimum, maximum, values out of range. */
  aggregations(query: Asked<'/api/v1/aggregations'> = {}): Promise<Aggregations> {
    return this.#object('/api/v1/aggregations', query);
  }

  /** Values by hour or day, newest first. */
  trends(query: Asked<'/api/v1/trends'> = {}): List<TrendPoint> {
    return this.list('/api/v1/trends', query);
  }

  symptoms(query: Asked<'/api/v1/symptoms'> = {}): List<Symptom> {
    return this.list('/api/v1/symptoms', query);
  }

  medications(query: Asked<'/api/v1/medications'> = {}): List<Medication> {
    return this.list('/api/v1/medications', query);
  }

  /** When a medication was due, and whether it was taken. */
  adherence(
    medicationId: string,
    query: Asked<'/api/v1/medications/{id}/adherence'> = {},
  ): List<AdherenceEntry> {
    return this.list(`/api/v1/medications/${encodeURIComponent(medicationId)}/adherence`, query);
  }

  conditions(query: Asked<'/api/v1/conditions'> = {}): List<Condition> {
    return this.list('/api/v1/conditions', query);
  }

  allergies(query: Asked<'/api/v1/allergies'> = {}): List<Allergy> {
    return this.list('/api/v1/allergies', query);
  }

  appointments(query: Asked<'/api/v1/appointments'> = {}): List<Appointment> {
    return this.list('/api/v1/appointments', query);
  }

  weight(query: Asked<'/api/v1/weight'> = {}): List<WeightEntry> {
    return this.list('/api/v1/weight', query);
  }

  mood(query: Asked<'/api/v1/mood'> = {}): List<MoodEntry> {
    return this.list('/api/v1/mood', query);
  }

  reports(query: Asked<'/api/v1/reports'> = {}): List<Report> {
    return this.list('/api/v1/reports', query);
  }

  ehr(query: Asked<'/api/v1/ehr'> = {}): List<EhrRecord> {
    return this.list('/api/v1/ehr', query);
  }

  profile(options: CallOptions = {}): Promise<Profile> {
    return this.#object('/api/v1/profile', options);
  }

  /** The tokens, renewed when they are about to expire: for requests that the SDK has no method for. */
  accessTokens(): Promise<TokenSet> {
    return this.#parts.tokens.current(this.id);
  }

  /** Revokes the tokens at the service and removes them here. The person's approval remains; `client.endGrant` ends that too. */
  async disconnect(options: CallOptions = {}): Promise<void> {
    const { tokens, oauth } = this.#parts;
    await tokens.forget(this.id, ({ refreshToken }) =>
      oauth.post('/oauth/revoke', { token: refreshToken }, options),
    );
  }

  /** A list at any path. */
  list<Item>(path: string, query: object & CallOptions = {}): List<Item> {
    const { signal, retryBudgetMs, page: first, pageSize: chosen, ...rest } = query as ListQuery;
    return new List({ page: first, pageSize: chosen }, async (page, pageSize, pace) => {
      const answer = await this.#read({
        path,
        query: { ...rest, page, pageSize },
        signal,
        retryBudgetMs,
        pace,
      });
      return answer as Page<Item>;
    });
  }

  /** The JSON at any path. A refused access token is renewed once. */
  get(path: string, query: Values = {}, { signal, retryBudgetMs }: CallOptions = {}): Promise<unknown> {
    return this.#read({ path, query, signal, retryBudgetMs });
  }

  async #read(request: Omit<HttpRequest, 'method'>): Promise<unknown> {
    const { http, tokens, credentials } = this.#parts;
    const read = ({ tokenType, accessToken }: TokenSet) =>
      http.send({ ...request, method: 'GET', ...credentials.ofToken(tokenType, accessToken) });
    const held = await untilAborted(tokens.current(this.id), request.signal);
    try {
      return await read(held);
    } catch (error) {
      if (!isPhdsError(error, 'TOKEN_EXPIRED', 'UNAUTHORIZED')) throw error;
      return read(await untilAborted(tokens.after(this.id, held.accessToken), request.signal));
    }
  }

  async #object<Data>(path: string, { signal, retryBudgetMs, ...query }: CallOptions): Promise<Data> {
    return ((await this.get(path, query, { signal, retryBudgetMs })) as { readonly data: Data }).data;
  }
}
