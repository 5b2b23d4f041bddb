import { isSandboxApp } from '@phds/catalog/sandbox';
import type { App } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AppError } from '@phds/service-kit/errors';
import type { z } from 'zod';
import { limitCostly } from '../allowance.ts';
import { appStatusName, toAppStatus } from '../consent-names.ts';
import { type Exchange, onBehalf, userOf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { readJsonBody } from '../json-body.ts';
import { readListQuery, toList } from '../list-query.ts';
import { sendJson } from '../respond.ts';
import { pathParameter } from '../routing.ts';
import { toInstant } from '../timestamps.ts';
import { changeBody, registrationBody, rotationBody, statusBody, toAppSettings } from './app-body.ts';
import {
  type changedStatusJson,
  type rotatedSecretJson,
  toAppJson,
  toNewAppJson,
  toPreviousSecretJson,
} from './app-json.ts';

/** `POST /developer/apps`: registers an app and returns its secret, which is never shown again. */
export async function registerApp(gateway: Gateway, exchange: Exchange): Promise<void> {
  await limitRegistration(gateway, exchange);
  const { environment, ...settings } = await readJsonBody(
    exchange.request,
    registrationBody,
    toBodyLimit(gateway),
  );
  const answer = await gateway.backends.apps.registerApp(
    { settings: toAppSettings(settings), sandbox: environment === 'sandbox' },
    onBehalf(exchange),
  );
  const app = required(answer.app);
  const headers = { Location: `/developer/apps/${app.clientId}` };
  sendJson(exchange.response, 201, { data: toNewAppJson(app, answer.clientSecret) }, headers);
}

/** `GET /developer/apps` */
export async function listApps(gateway: Gateway, exchange: Exchange): Promise<void> {
  const query = readListQuery(exchange.request.originalUrl);
  query.check();
  const { apps, total, registrationRefused } = await gateway.backends.apps.listApps(
    { page: query.page },
    onBehalf(exchange),
  );
  const list = toList(apps.map(toAppJson), query.page, total);
  sendJson(exchange.response, 200, { ...list, mayRegister: !registrationRefused });
}

/** `GET /developer/apps/:clientId` */
export async function getApp(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { app } = await gateway.backends.apps.getApp(
    { clientId: pathParameter(exchange, 'clientId') },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, { data: toAppJson(required(app)) });
}

/** `PATCH /developer/apps/:clientId` */
export async function changeApp(gateway: Gateway, exchange: Exchange): Promise<void> {
  const body = await readJsonBody(exchange.request, changeBody, toBodyLimit(gateway));
  const { app } = await gateway.backends.apps.updateApp(
    { clientId: pathParameter(exchange, 'clientId'), settings: toAppSettings(body) },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, { data: toAppJson(required(app)) });
}

/** `POST /developer/apps/:clientId/rotate-secret`: the old secret stops working immediately, or after `overlapSeconds`. */
export async function rotateSecret(gateway: Gateway, exchange: Exchange): Promise<void> {
  const clientId = pathParameter(exchange, 'clientId');
  await limitRegistration(gateway, exchange);
  const { overlapSeconds = 0 } = await readJsonBody(exchange.request, rotationBody, {
    ...toBodyLimit(gateway),
    optional: true,
  });
  const rotated = await gateway.backends.apps.rotateSecret({ clientId, overlapSeconds }, onBehalf(exchange));
  const data: z.infer<typeof rotatedSecretJson> = {
    clientId,
    clientSecret: rotated.clientSecret,
    secretLast4: rotated.secretLast4,
    ...toPreviousSecretJson(rotated),
    rotatedAt: toInstant(rotated.rotatedAt),
  };
  sendJson(exchange.response, 200, { data });
}

/** `POST /developer/apps/:clientId/status`: takes effect everywhere before the response is sent. */
export async function setStatus(gateway: Gateway, exchange: Exchange): Promise<void> {
  const clientId = pathParameter(exchange, 'clientId');
  const body = await readJsonBody(exchange.request, statusBody, toBodyLimit(gateway));
  const { status, statusChangedAt } = await gateway.backends.apps.setAppStatus(
    { clientId, status: toAppStatus(body.status) },
    onBehalf(exchange),
  );
  // If this fails, repeating the same status does it.
  if (body.status === 'revoked' && isSandboxApp(clientId)) {
    await gateway.backends.sandboxData.eraseSandboxPeople({ clientId });
  }
  const data: z.infer<typeof changedStatusJson> = {
    clientId,
    status: appStatusName(status),
    statusChangedAt: toInstant(statusChangedAt),
  };
  sendJson(exchange.response, 200, { data });
}

async function limitRegistration(gateway: Gateway, exchange: Exchange): Promise<void> {
  await limitCostly(gateway, exchange, 'registrations', userOf(exchange));
}

function toBodyLimit({ config }: Gateway) {
  return { maxBytes: config.MAX_BODY_BYTES };
}

function required(app: App | undefined): App {
  if (app === undefined) throw new AppError('internal', '', { cause: 'answer without an app' });
  return app;
}
