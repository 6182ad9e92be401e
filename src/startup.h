#pragma once

namespace verso {

/// OpenBLAS reads the name of its kernel once, when it is loaded. When it has picked one that is
/// older than the CPU (see better_openblas_core), the program starts itself again with
/// OPENBLAS_CORETYPE set; a user's own setting is respected. To be called first in main.
void choose_blas_kernel(char** argv);

}  // namespace verso
