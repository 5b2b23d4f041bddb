import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StackOptions } from '@phds/dev-stack/stack';
import { measureInTurn } from './measure.ts';
import type { Options } from './options.ts';
import { prepareStack } from './prepare-stack.ts';
import { report } from './report.ts';

/**
 * Measures the cost of traces: the path of a data request without them, with one request in a hundred recorded, and with all. The
 * receiver reads and drops what is exported; its CPU is not counted.
 */
export async function benchTraces(options: Options): Promise<string> {
  const receiver = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(200).end());
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const { port } = receiver.address() as AddressInfo;
  const at = (ratio: string) => ({ environment: toEnvironment(`http://127.0.0.1:${port}`, ratio) });
  await using off = await prepareStack('bench', options);
  await using hundredth = await prepareStack('bench-traces-hundredth', options, at('0.01'));
  await using all = await prepareStack('bench-traces-all', options, at('1'));
  const sides = { off: off.side, hundredth: hundredth.side, all: all.side };
  const rounds = await measureInTurn(sides, options.rounds, console.log);
  receiver.close();
  receiver.closeAllConnections();
  return (['hundredth', 'all'] as const)
    .map((other) => report({ rounds, base: 'off', other }, options))
    .join('\n');
}

function toEnvironment(endpoint: string, ratio: string): NonNullable<StackOptions['environment']> {
  const traced = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: ratio,
  };
  return { gateway: traced, authorization: traced, consent: traced, 'health-data': traced };
}
