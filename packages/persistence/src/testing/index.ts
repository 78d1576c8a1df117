export { boundDeletes } from './bound-deletes';
export { createMigratedDatabase } from './migrated-database';
