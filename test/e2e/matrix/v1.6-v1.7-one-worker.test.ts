import { testPair } from './pair.ts'

// There virt-handler does roll a second and a third time (lab 9).
testPair({ from: 'v1.6.0', to: 'v1.7.0', by: 'operator-manifest', workers: 1 })
