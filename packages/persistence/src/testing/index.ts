export { createMigratedDatabase } from './migrated-database';
