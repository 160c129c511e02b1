import { testPair } from '../pair.ts'

testPair({ from: 'v1.3.0', to: 'v1.4.0', by: 'operator-manifest' })
