// Prints the import of a decision table with 10,000 rows: `node examples/starter/rules/postal-tariff.mjs > postal-tariff.json`.
// Every row is made by the same arithmetic, so that anybody can check an answer by hand.

const ZONES = 100;
/** Upper ends of the weight bands, kg. */
const WEIGHTS = [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20, 25, 30, 40, 50];
/** Cents for each service, and days until delivery. */
const SERVICES = { economy: [290, 6], standard: [390, 3], express: [890, 1], bulky: [1490, 5], returns: [350, 4] };

const zoneName = (zone) => String(zone).padStart(2, '0');

const rows = Object.entries(SERVICES).flatMap(([service, [base, days]]) =>
  Array.from({ length: ZONES }, (_, zone) =>
    WEIGHTS.map((weight, band) => ({
      request: {
        zone: { op: 'equals', args: [zoneName(zone)] },
        service: { op: 'equals', args: [service] },
        weight: { op: 'less than or equal to', args: [weight] },
      },
      response: {
        price: { value: (base + 10 * zone + 75 * band) / 100 },
        days: { value: days + Math.floor(zone / 50) },
      },
    })),
  ).flat(),
);

const rule = {
  id: '0b5f0f4c-6a55-4d0e-8f0a-1f6f5b0c1a05',
  slug: 'postal-tariff',
  name: 'Postal tariff',
  description: 'The price of a parcel by zone, service and weight: ten thousand rows, generated.',
  labels: ['example', 'large'],
  requestSchema: [
    { key: 'zone', name: 'Zone, 00 to 99', type: 'string' },
    { key: 'service', name: 'Service', type: 'string' },
    { key: 'weight', name: 'Weight in kg', type: 'number' },
  ],
  responseSchema: [
    { key: 'price', name: 'Price in EUR', type: 'number' },
    { key: 'days', name: 'Days until delivery', type: 'number' },
  ],
  conditions: rows,
  // Zone 42, express, 3.7 kg is in the eighth band: 8.90 + 42 * 0.10 + 7 * 0.75.
  sampleRequest: { zone: '42', service: 'express', weight: 3.7 },
  sampleResponse: { price: 18.35, days: 1 },
};

process.stdout.write(JSON.stringify({ rule }));
