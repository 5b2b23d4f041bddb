import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { getMetric } from '@phds/catalog/metrics';
import { QueryParametersSchema, TrendBucket } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { AppError, toAppError } from '@phds/service-kit/errors';
import type { Answer } from '../../src/document.ts';
import { deleteReadings, putReadings } from '../../src/ingest-readings.ts';
import { putProfile } from '../../src/profiles.ts';
import { resolveParameters } from '../../src/request.ts';
import { getDataPath, readResource } from '../../src/resources.ts';
import { listReadings, listWeight } from './lists.ts';
import { Person, type Sent, type Span } from './person.ts';
import type { Instance, Ports } from './ports.ts';
import { IDS, isInverted, type Request } from './request.ts';
import { aggregate, trend } from './summaries.ts';

/** The responses of the service and of the reference to the same request. */
export interface Comparison {
  readonly about: unknown;
  readonly served: string;
  readonly expected: string;
  /** Another correct response, if something changed during the read. */
  readonly before?: string;
}

const REFUSED = { refused: ['from'] };

export function isRight({ served, expected, before }: Comparison): boolean {
  return served === expected || served === before;
}

/** A person whose data is written to the service and the reference, which are then asked the same. */
export class ComparedPerson {
  readonly #ports: Ports;
  readonly person: Person;
  #calls = 0;

  constructor(ports: Ports, userId: string) {
    this.#ports = ports;
    this.person = new Person(userId);
  }

  async put(batch: readonly Sent[]): Promise<Comparison> {
    const expected = { ...this.person.put(batch), refusals: [] };
    const served = await putReadings(this.#next().ingestion, {
      userId: this.person.userId,
      readings: batch.map(toDraft),
    });
    return compare('put', served, expected);
  }

  async delete(keys: readonly Sent[], spans: readonly Span[]): Promise<Comparison> {
    const expected = this.person.delete(keys, spans);
    const windows = spans.map(({ type, source, from, to }) => ({
      type: getMetric(type).name,
      source: source ?? '',
      ...(from === null ? {} : { from: timestampFromMs(from) }),
      ...(to === null ? {} : { to: timestampFromMs(to) }),
    }));
    const { userId } = this.person;
    const served = await deleteReadings(this.#next().ingestion, { userId, keys: keys.map(toDraft), windows });
    return compare('delete', served, expected);
  }

  async move(zone: string): Promise<void> {
    this.person.zone = zone;
    await putProfile(this.#next().ingestion.profiles, { userId: this.person.userId, timeZone: zone });
  }

  async erase(): Promise<void> {
    this.person.erase();
    await this.#next().ingestion.eraser.erase(this.person.userId);
  }

  /** Reads as an app does, without the wire and the record, and compares the two responses. */
  async read(request: Request): Promise<Comparison> {
    const expected = JSON.stringify(this.expect(request));
    return { about: request, served: await this.#serve(request), expected };
  }

  /** Reads during a change: the response may be that of before. */
  async readDuring(change: () => Promise<unknown>, requests: readonly Request[]): Promise<Comparison[]> {
    const before = requests.map((request) => JSON.stringify(this.expect(request)));
    const [served] = await Promise.all([
      Promise.all(requests.map((request) => this.#serve(request))),
      change(),
    ]);
    return requests.map((request, index) => ({
      about: request,
      served: served[index] ?? '',
      expected: JSON.stringify(this.expect(request)),
      before: before[index] ?? '',
    }));
  }

  /** Alternates between the instances, so that the result must not depend on shared memory. */
  #next(): Instance {
    this.#calls += 1;
    const [one, other] = this.#ports.instances;
    return this.#calls % 2 === 0 ? one : other;
  }

  async #serve(request: Request): Promise<string> {
    const answer = await this.#read(request).catch(toAppError);
    if (!(answer instanceof AppError)) return answer.text;
    if (answer.reason !== 'invalid_request') throw answer;
    return JSON.stringify({ refused: answer.violations.map(({ parameter }) => parameter) });
  }

  async #read(request: Request): Promise<Answer | AppError> {
    const path = getDataPath(request.endpoint, request.category ?? '');
    const parameters = resolveParameters(
      create(QueryParametersSchema, {
        page: { page: request.page, pageSize: request.pageSize },
        from: request.from ?? '',
        to: request.to ?? '',
        type: request.type === null ? '' : getMetric(request.type).name,
        bucket:
          request.bucket === null ? 0 : { hour: TrendBucket.HOUR, day: TrendBucket.DAY }[request.bucket],
        timeZone: request.timeZone ?? '',
      }),
      path,
    );
    return readResource(this.#next().data, {
      path,
      medicationId: '',
      parameters,
      askedBy: 'app_witness',
      ids: IDS,
      userId: this.person.userId,
      dataFrom: request.dataFrom,
    });
  }

  /** The response of the reference. */
  expect(request: Request): object {
    if (isInverted(request, this.person.zone)) return REFUSED;
    switch (request.endpoint) {
      case 'health-data':
        return listReadings(this.person, request);
      case 'weight':
        return listWeight(this.person, request);
      case 'trends':
        return trend(this.person, request);
      case 'aggregations':
        return aggregate(this.person, request, this.#ports.clock.now());
    }
  }
}

function compare(about: string, served: object | number, expected: object | number): Comparison {
  return { about, served: JSON.stringify(served), expected: JSON.stringify(expected) };
}

function toDraft({ type, start, end, source, value }: Sent) {
  const times = { start: timestampFromMs(start), end: timestampFromMs(end) };
  return { type: getMetric(type).name, ...times, source, unit: '', ...(value === null ? {} : { value }) };
}
