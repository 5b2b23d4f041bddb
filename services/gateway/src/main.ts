import { runService } from '@phds/service-kit/lifecycle';
import { createLogger } from '@phds/service-kit/log';
import { readGatewayConfig } from './config.ts';
import { createService } from './service.ts';

const config = readGatewayConfig();
const log = createLogger({ service: 'gateway', level: config.LOG_LEVEL });

await runService(() => createService(config, { log }), log);
