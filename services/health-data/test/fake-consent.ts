import { type Access, AccessService, Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { type DataChange, EventService } from '@phds/contracts/phds/consent/v1/events_pb';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { invalidRequest, unavailable } from '@phds/service-kit/errors';
import { type RpcServer, startRpcServer } from '@phds/service-kit/rpc/server';
import { implement } from '@phds/service-kit/rpc/service';
import type { Logger } from '@phds/service-kit/telemetry/log';
import type { ServiceTokenVerifier } from '@phds/service-kit/trust/callers';

/** Replaces consent's AccessService: stores the accesses that it is asked to record, and judges as the test says. */
export class FakeConsent implements AsyncDisposable {
  readonly batches: Access[][] = [];
  /** The changed readings that were reported to it. */
  readonly changes: DataChange[] = [];
  refusesChanges = false;
  refusedChanges = 0;
  /** Whose changes it takes for invalid. */
  invalidUser = '';
  /** The verdict of each access; tests replace it. */
  judge: (access: Access) => Verdict = () => Verdict.RELEASED;
  /** Awaited before each response, after the record; tests replace it to delay or fail calls. */
  gate: Promise<void> = Promise.resolve();
  /** The verdicts of a response; tests replace it to send a wrong number. */
  answer: (verdicts: Verdict[]) => Verdict[] = (verdicts) => verdicts;
  readonly #options: { verifyCaller: ServiceTokenVerifier; log: Logger };
  #server: RpcServer | undefined;
  #port = 0;

  constructor(options: { verifyCaller: ServiceTokenVerifier; log: Logger }) {
    this.#options = options;
  }

  get port(): number {
    return this.#port;
  }

  /** Every access recorded so far, in order. */
  get accesses(): Access[] {
    return this.batches.flat();
  }

  forget(): void {
    this.batches.length = 0;
    this.changes.length = 0;
    this.refusedChanges = 0;
    this.judge = () => Verdict.RELEASED;
    this.gate = Promise.resolve();
    this.answer = (verdicts) => verdicts;
  }

  /** Starts the server; after `stop`, on the same port again. */
  async start(): Promise<void> {
    this.#port ||= await leasePort();
    this.#server = await startRpcServer({
      ...this.#options,
      host: '127.0.0.1',
      rpcPort: this.#port,
      probePort: null,
      health: async () => true,
      services: [
        implement(
          AccessService,
          {
            recordAccess: async ({ accesses }) => {
              this.batches.push(accesses);
              await this.gate;
              return { verdicts: this.answer(accesses.map((access) => this.judge(access))) };
            },
            listAccesses: () => ({}),
            listAccessDays: () => ({}),
            getAppUsage: () => ({}),
            countRefusals: () => ({}),
          },
          {
            recordAccess: ['health-data'],
            listAccesses: [],
            listAccessDays: [],
            getAppUsage: [],
            countRefusals: [],
          },
        ),
        implement(
          EventService,
          {
            reportDataChanges: async ({ changes }) => {
              if (this.refusesChanges) {
                this.refusedChanges += 1;
                throw unavailable();
              }
              if (changes.some(({ userId }) => userId === this.invalidUser))
                throw invalidRequest('userId', '');
              this.changes.push(...changes);
              return {};
            },
          },
          { reportDataChanges: ['health-data'] },
        ),
      ],
    });
  }

  async stop(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
