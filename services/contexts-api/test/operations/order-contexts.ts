import { type RuleTableParts } from '../contexts-api-under-test';

/** Orders: a required total, the facts that rules decide about it, and the customer of the order. */
export const ORDERS = {
  name: 'Orders',
  identity_fact: 'order_id',
  schema: {
    base: [
      { key: 'order_id', type: 'string' },
      { key: 'country', type: 'string', required: true },
      { key: 'total', type: 'number', required: true, track_history: true },
      { key: 'discount', type: 'number', output_only: true },
      { key: 'tier', type: 'string', output_only: true },
      { key: 'customer_id', type: 'string' },
    ],
    derived: [{ key: 'net', expression: 'total - discount' }],
  },
};

/** Orders whose submissions write nothing but the instance: no fact is tracked or refers to another context. */
export const PLAIN_ORDERS = {
  identity_fact: 'order_id',
  schema: {
    base: [
      { key: 'order_id', type: 'string' },
      { key: 'country', type: 'string' },
      { key: 'total', type: 'number' },
      { key: 'discount', type: 'number', output_only: true },
      { key: 'price', type: 'number', output_only: true },
    ],
  },
};

/** Customers: the sum of their orders, and the facts that rules decide about it. */
export const CUSTOMERS = {
  name: 'Customers',
  identity_fact: 'customer_id',
  schema: {
    base: [
      { key: 'customer_id', type: 'string' },
      { key: 'level', type: 'string', output_only: true },
    ],
  },
};

/** A discount of a tenth of what exceeds 100. */
export const DISCOUNT: RuleTableParts = {
  inputs: [
    { key: 'total', name: 'Total', type: 'number' },
    { key: 'country', name: 'Country', type: 'string' },
  ],
  outputs: [{ key: 'discount', name: 'Discount', type: 'function' }],
  rows: [
    { request: { total: { op: 'greater than', args: [100] } }, response: { discount: { value: 'total / 10' } } },
    { request: {}, response: { discount: { value: '0' } } },
  ],
};

/** The tier follows from the discount, in the next round. */
export const TIER: RuleTableParts = {
  inputs: [{ key: 'discount', name: 'Discount', type: 'number' }],
  outputs: [{ key: 'tier', name: 'Tier', type: 'string' }],
  rows: [
    { request: { discount: { op: 'greater than', args: [0] } }, response: { tier: { value: 'gold' } } },
    { request: {}, response: { tier: { value: 'tin' } } },
  ],
};

/** The level of a customer who has spent a lot. */
export const LEVEL: RuleTableParts = {
  inputs: [{ key: 'spent', name: 'Spent', type: 'number' }],
  outputs: [{ key: 'level', name: 'Level', type: 'string' }],
  rows: [
    { request: { spent: { op: 'greater than', args: [100] } }, response: { level: { value: 'high' } } },
    { request: {}, response: { level: { value: 'low' } } },
  ],
};
