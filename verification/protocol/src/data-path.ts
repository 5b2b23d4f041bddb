import { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { openRpcChannel, type RpcChannelOptions } from '@phds/service-kit/rpc/client';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { createBatchedReads, type ReadData } from '../../../services/gateway/src/clients/batched-reads.ts';
import { createRpcAccessLog } from '../../../services/health-data/src/clients/rpc-access-log.ts';
import { readEnvironment } from '../../../services/health-data/src/config.ts';
import { createService } from '../../../services/health-data/src/service.ts';
import { type Control, vary } from './control.ts';
import type { Link } from './history.ts';
import { LosableStreams } from './losable-streams.ts';

/** Longer than a batch is stopped. */
const DEADLINE_MS = 30_000;

/** Where and as whom to call a service. */
export type Destination = Pick<RpcChannelOptions, 'address' | 'audience' | 'tokens'>;

export interface DataPathOptions {
  readonly control: Control;
  /** Settings of health-data. */
  readonly settings: Record<string, string>;
  /** The instance of consent, called as health-data. */
  readonly consent: Destination;
  /** The started instance of health-data, called as the gateway. */
  readonly toHealthData: (server: { readonly rpcPort: number }) => Destination;
  /** Whether batches can be stopped here. */
  readonly stops: boolean;
}

/** The path of reads: the gateway's batches, an instance of the real health-data, and the streams from one service to the next. */
export interface DataPath extends AsyncDisposable {
  readonly readData: ReadData;
  /** Loses the streams of a link, with the batches on them. */
  lose(link: Link): Promise<void>;
  /** Waits until reads and records travel over streams. */
  ready(): Promise<void>;
}

export async function startDataPath(options: DataPathOptions): Promise<DataPath> {
  await using resources = new AsyncDisposableStack();
  const records = resources.use(openRecords(options));
  const { control, settings } = options;
  const healthData = resources.use(
    await createService(readEnvironment(settings), {
      clock: control.clock,
      log: createLogger({ service: 'health-data', level: 'silent' }),
      accessLog: records.accessLog,
    }),
  );
  const reads = resources.use(openReads(control, options.toHealthData(healthData)));
  const links = { reads: reads.streams, records: records.streams };
  const running = resources.move();
  return {
    readData: reads.readData,
    lose: (link) => links[link].lose(),
    ready: async () => {
      for (const streams of Object.values(links)) await streams.ready();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** From the gateway to health-data. */
function openReads(control: Control, to: Destination) {
  const { read: carried, reads: method } = HealthDataService.method;
  const channel = openRpcChannel({ ...to, deadlineMs: DEADLINE_MS });
  const streams = new LosableStreams({ ...to, method, carried });
  const varied = {
    get open() {
      const mistake = control.variant?.sendReads;
      if (mistake === undefined) return streams.open;
      return streams.open.map((stream) => ({
        load: stream.load,
        sentAt: stream.sentAt,
        silentMs: stream.silentMs,
        send: mistake((calls) => stream.send(calls)),
      }));
    },
  };
  const healthData = channel.client(HealthDataService);
  return {
    streams,
    readData: createBatchedReads({ healthData, streams: varied, deadlineMs: DEADLINE_MS }),
    [Symbol.dispose]: () => disposeBoth(streams, channel),
  };
}

/** From health-data to consent. */
function openRecords({ control, consent: to, stops }: DataPathOptions) {
  const { recordAccess: carried, recordAccesses: method } = AccessService.method;
  const channel = openRpcChannel({ ...to, deadlineMs: DEADLINE_MS });
  const streams = new LosableStreams({ ...to, method, carried });
  const consent = channel.client(AccessService);
  const record = createRpcAccessLog({ consent, streams, deadlineMs: DEADLINE_MS });
  const real: typeof record = async (accesses) => {
    const verdicts = await record(accesses);
    return stops && control.stopped !== null ? control.stopped.receive(verdicts) : verdicts;
  };
  const varied = vary(control, { real }, ({ accessLog }) => accessLog && { real: accessLog(real) });
  return {
    streams,
    accessLog: (accesses: Parameters<typeof record>[0]) => varied.real(accesses),
    [Symbol.dispose]: () => disposeBoth(streams, channel),
  };
}

function disposeBoth(streams: Disposable, channel: Disposable): void {
  streams[Symbol.dispose]();
  channel[Symbol.dispose]();
}
