import { randomUUID } from 'node:crypto';
import { callJson } from '../../src/histories/service-call';

/* A transfer records its stage, and sets the balance of its account, for which a rule decides the fee; a closing deletes its account. */

const field = (key: string, type: string) => ({ key, name: key, type });
const output = (key: string, type: string) => ({ key, type });

const ACCOUNTS = {
  ...{ name: 'Accounts', identity_fact: 'account_id' },
  schema: {
    base: [
      { key: 'account_id', type: 'string' },
      { key: 'balance', type: 'number', track_history: true },
      { key: 'fee', type: 'number', output_only: true },
    ],
  },
};

const FEE = {
  ...{ slug: 'account-fee', name: 'Account fee', _publish: true },
  context: { slug: 'accounts', version: 'latest' },
  requestSchema: [field('balance', 'number')],
  responseSchema: [field('fee', 'function')],
  conditions: [{ request: {}, response: { fee: { value: 'balance / 10' } } }],
};

const TRANSFERS = {
  ...{ name: 'Transfers', identity_fact: 'transfer_id' },
  schema: {
    base: [
      { key: 'transfer_id', type: 'string' },
      { key: 'account', type: 'string' },
      { key: 'amount', type: 'number', track_history: true },
      { key: 'stage', type: 'string', track_history: true },
      { key: 'fee', type: 'number', output_only: true, track_history: true },
    ],
  },
};

const ABOUT_TRANSFERS = {
  ...{ slug: 'about-transfers', name: 'About transfers', _publish: true },
  requestSchema: [field('transfer_id', 'string'), field('account', 'string'), field('amount', 'number')],
  ...{ responseSchema: [], conditions: [] },
};

const TRANSFER = {
  ...{ slug: 'transfer', name: 'Transfer', context: { slug: 'transfers', version: 'latest' } },
  nodes: [
    { ref: 'in', type: 'origin', rule: 'about-transfers' },
    {
      ...{ ref: 'note', type: 'entity', entitySlug: 'transfers', operation: 'update' },
      ...{ updateValues: { stage: 'noted' }, outputs: [output('account', 'string')] },
    },
    {
      ...{ ref: 'book', type: 'entity', entitySlug: 'accounts', operation: 'update' },
      outputs: [output('fee', 'number')],
    },
    { ref: 'out', type: 'result' },
  ],
  connections: [
    { from: 'in', output: 'request_transfer_id', to: 'note', input: 'transfer_id' },
    { from: 'note', output: 'account', to: 'book', input: 'account_id' },
    { from: 'in', output: 'request_amount', to: 'book', input: 'balance' },
    { from: 'book', output: 'fee', to: 'out', input: 'fee' },
  ],
};

const CLOSINGS = {
  ...{ name: 'Closings', identity_fact: 'closing_id' },
  schema: {
    base: [
      { key: 'closing_id', type: 'string' },
      { key: 'account', type: 'string' },
      { key: 'closed', type: 'string', output_only: true },
    ],
  },
};

const ABOUT_CLOSINGS = {
  ...{ slug: 'about-closings', name: 'About closings', _publish: true },
  requestSchema: [field('account', 'string')],
  ...{ responseSchema: [], conditions: [] },
};

const CLOSING = {
  ...{ slug: 'closing', name: 'Closing', context: { slug: 'closings', version: 'latest' } },
  nodes: [
    { ref: 'in', type: 'origin', rule: 'about-closings' },
    { ref: 'close', type: 'entity', entitySlug: 'accounts', operation: 'delete' },
    { ref: 'out', type: 'result' },
  ],
  connections: [
    { from: 'in', output: 'request_account', to: 'close', input: 'account_id' },
    { from: 'in', output: 'request_account', to: 'out', input: 'closed' },
  ],
};

/** Defines the contexts, the rules and the flows. */
export const defineTransfersAndAccounts = async (baseUrl: string, apiKey: string): Promise<void> => {
  const call = async (path: string, body: unknown): Promise<void> => {
    const answer = await callJson(`${baseUrl}/api/v1/admin/${path}`, { method: 'POST', apiKey, body });
    if (answer?.status !== 200) throw new Error(`${path} was refused: ${JSON.stringify(answer)}`);
  };
  for (const context of [ACCOUNTS, TRANSFERS, CLOSINGS]) await call('contexts', context);
  for (const rule of [FEE, ABOUT_TRANSFERS, ABOUT_CLOSINGS])
    await call('rules/import', { rule: { ...rule, id: randomUUID() } });
  for (const flow of [TRANSFER, CLOSING]) await call('flows/import', { flow });
};
