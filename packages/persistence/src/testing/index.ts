export { boundDeletes } from './bound-deletes';
export { type FlightCounter, startFlightCounter } from './flight-counter';
export { createMigratedDatabase } from './migrated-database';
