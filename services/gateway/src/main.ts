import { runService } from '@phds/service-kit/lifecycle';
import { toTracingOptions } from '@phds/service-kit/settings/tracing';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { Metrics } from '@phds/service-kit/telemetry/metrics';
import { readEnvironment } from './config.ts';
import { createService } from './service.ts';

const config = readEnvironment(process.env);
const log = createLogger({ service: 'gateway', level: config.LOG_LEVEL });
const metrics = new Metrics({ service: 'gateway', ofProcess: true });

await runService(() => createService(config, { log, metrics }), {
  log,
  shutdownDelayMs: config.SHUTDOWN_DELAY_MS,
  tracing: toTracingOptions(config, 'gateway'),
});
