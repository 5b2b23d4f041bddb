// Replaces consent's AccessService in the record benchmark: answers RELEASED and records nothing.
import { AccessService, Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { createLogger } from '@phds/service-kit/log';
import { startRpcServer } from '@phds/service-kit/rpc-server';
import { implement } from '@phds/service-kit/rpc-service';

const server = await startRpcServer({
  services: [
    implement(
      AccessService,
      {
        recordAccess: ({ accesses }) => ({ verdicts: accesses.map(() => Verdict.RELEASED) }),
        listAccesses: () => ({}),
        exportAccesses: () => ({}),
        listAccessDays: () => ({}),
        getAppUsage: () => ({}),
        countRefusals: () => ({}),
      },
      {
        recordAccess: ['health-data'],
        listAccesses: [],
        exportAccesses: [],
        listAccessDays: [],
        getAppUsage: [],
        countRefusals: [],
      },
      { recordAccesses: 'recordAccess' },
    ),
  ],
  // Tokens are not verified: only this benchmark's health-data can reach the port.
  verifyCaller: async () => 'health-data',
  log: createLogger({ service: 'stand-in', level: 'error' }),
  host: '127.0.0.1',
  rpcPort: 0,
  probePort: null,
  connectPort: null,
  health: async () => true,
});
process.send?.({ port: server.rpcPort });
process.on('disconnect', () => process.exit(0));
