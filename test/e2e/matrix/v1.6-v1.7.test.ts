import { testPair } from './pair.ts'

testPair({ from: 'v1.6.0', to: 'v1.7.0', by: 'operator-manifest', workers: 3 })
