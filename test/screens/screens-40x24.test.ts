import { goldenScreens } from './golden.ts'

goldenScreens({ columns: 40, rows: 24 })
