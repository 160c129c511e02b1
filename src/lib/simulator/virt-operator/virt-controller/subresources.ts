import type { Store } from '../../api/store.ts'
export function serveLaunchers(_store: Store): void {}
