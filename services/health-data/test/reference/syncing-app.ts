import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { QueryParametersSchema } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { AppError } from '@phds/service-kit/errors';
import { createPublicIds } from '../../src/public-ids.ts';
import { resolveParameters } from '../../src/request.ts';
import { getDataPath, readResource } from '../../src/resources.ts';
import type { Instance } from './ports.ts';

const EVERYTHING = '1970-01-01T00:00:00Z';
const ids = createPublicIds(Buffer.alloc(32, 7))('app_sync');

/** A reading as the list shows it. */
interface ListedReading {
  readonly id: string;
  readonly timestamp: string;
}

type Change = ListedReading & { readonly updatedAt: string; readonly deleted: boolean };

interface Page<Item> {
  readonly data: readonly Item[];
  readonly sync: { readonly cursor: string; readonly hasMore: boolean };
  readonly pagination: { readonly totalPages: number };
}

/** An app that keeps a copy of the heart readings of a person. */
export class SyncingApp {
  readonly #userId: string;
  readonly #type: string;
  #cursor: string | null = null;
  readonly #kept = new Map<string, unknown>();
  /** First day that the person shares (YYYY-MM-DD); null for all. */
  dataFrom: string | null = null;

  /** `type` is the name of a metric type; empty for all. */
  constructor(userId: string, type: string) {
    this.#userId = userId;
    this.#type = type;
  }

  /** Reads the next page. An app that crashes before it has stored the answer forgets it. Returns whether there is more. */
  async step(instance: Instance, pageSize: number, crashes: boolean): Promise<boolean> {
    const updatedSince = this.#cursor ?? EVERYTHING;
    const answer = await this.#read<Change>(instance, { updatedSince, page: { pageSize } });
    if (answer instanceof AppError) {
      if (answer.reason !== 'cursor_expired') throw answer;
      this.#cursor = null;
      this.#kept.clear();
      return true;
    }
    if (crashes) return true;
    for (const { updatedAt, deleted, ...reading } of answer.data) {
      if (deleted) this.#kept.delete(reading.id);
      else this.#kept.set(reading.id, reading);
    }
    this.#cursor = answer.sync.cursor;
    return answer.sync.hasMore;
  }

  /** The copy, in the order of ids. */
  get kept(): ListedReading[] {
    return [...this.#kept.values()].map((reading) => reading as ListedReading).sort(byId);
  }

  /** The readings as the ordinary list returns them, in the order of ids. */
  async list(instance: Instance): Promise<ListedReading[]> {
    const listed: ListedReading[] = [];
    for (let page = 1; ; page += 1) {
      const answer = await this.#read<ListedReading>(instance, { page: { page, pageSize: 100 } });
      if (answer instanceof AppError) throw answer;
      listed.push(...answer.data);
      if (page >= answer.pagination.totalPages) return listed.sort(byId);
    }
  }

  async #read<Item>(
    { data }: Instance,
    sent: MessageInitShape<typeof QueryParametersSchema>,
  ): Promise<Page<Item> | AppError> {
    const path = getDataPath('health-data', 'heart');
    const parameters = resolveParameters(create(QueryParametersSchema, { type: this.#type, ...sent }), path);
    const who = { askedBy: 'app_sync', ids, userId: this.#userId, dataFrom: this.dataFrom };
    const answer = await readResource(data, { path, medicationId: '', parameters, ...who });
    return answer instanceof AppError ? answer : JSON.parse(answer.text);
  }
}

function byId(a: ListedReading, b: ListedReading): number {
  return a.id < b.id ? -1 : 1;
}
