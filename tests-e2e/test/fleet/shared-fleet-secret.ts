/** Signs sessions of the shared fleet. In a file of its own, so that the process that starts the fleet loads nothing else too early. */
export const SHARED_JWT_SECRET = 'the secret of the shared fleet, and of nothing else';
