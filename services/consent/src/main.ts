import { runService } from '@phds/service-kit/lifecycle';
import { readEnvironment } from './config.ts';
import { createService } from './service.ts';

await runService('consent', readEnvironment, createService);
