import { createServer } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { findRandomPorts, parsePorts, requireFreePorts, toNamedPorts } from '../src/ports.ts';

describe('the ports of a stack', () => {
  test('have the documented defaults, with consecutive gateway ports and every tenth port for their probes', () => {
    expect(parsePorts({}, 2)).toEqual({
      gateways: [8080, 8081],
      gatewayProbes: [7100, 7110],
      identityProvider: 8090,
      authorizationRpc: 7001,
      consentRpc: 7002,
      healthDataRpc: 7003,
      authorizationProbe: 7101,
      consentProbe: 7102,
      healthDataProbe: 7103,
      postgres: 7432,
      redis: 6380,
    });
  });

  test('are changed by their variables', () => {
    const ports = parsePorts({ GATEWAY_PORT: '9000', CONSENT_RPC_PORT: '9100', REDIS_PORT: '' }, 3);
    expect(ports.gateways).toEqual([9000, 9001, 9002]);
    expect(ports.consentRpc).toBe(9100);
    expect(ports.redis).toBe(6380);
  });

  test.each(['0', '65536', 'http', '80.5', '-1'])(
    '%j is not a port: the error names the variable',
    (text) => {
      expect(() => parsePorts({ POSTGRES_PORT: text }, 1)).toThrow('POSTGRES_PORT must be a port');
    },
  );

  test('used twice are refused, naming both', () => {
    expect(() => parsePorts({ IDENTITY_PROVIDER_PORT: '8081' }, 2)).toThrow(
      'Port 8081 is used by gateway 2 (GATEWAY_PORT) and identity provider (IDENTITY_PROVIDER_PORT).',
    );
  });

  test('picked at random are distinct', async () => {
    const ports = toNamedPorts(await findRandomPorts(3)).map(({ port }) => port);
    expect(new Set(ports).size).toBe(15);
  });

  test.each(['127.0.0.1', '0.0.0.0', '::1'])(
    'in use on %s cause an error that names port and variable',
    async (host) => {
      const server = createServer();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      server.once('error', reject).listen({ port: 0, host }, resolve);
      try {
        await promise;
      } catch {
        // A machine without IPv6 cannot run the IPv6 case.
        expect(host).toBe('::1');
        return;
      }
      const { port } = server.address() as { port: number };
      const named = { port, what: 'consent rpc', variable: 'CONSENT_RPC_PORT' };
      await expect(requireFreePorts([named])).rejects.toThrow(
        `port ${port} (consent rpc) is taken; set CONSENT_RPC_PORT to another`,
      );
      server.close();
    },
  );

  test('that are free are accepted', async () => {
    await expect(requireFreePorts(toNamedPorts(await findRandomPorts(1)))).resolves.toBeUndefined();
  });
});
