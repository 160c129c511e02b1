import { testPair } from '../pair.ts'

testPair({ from: 'v1.4.0', to: 'v1.5.2', by: 'operator-manifest' })
