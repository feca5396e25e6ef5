// The headers serve C++ as they are: names link, structs and callbacks fit.
#include <galpha/galpha.h>

#include <cstdio>

static ga_eval mass(void *, const ga_point *, double *M)
{
    M[0] = 1;
    return GA_EVAL_OK;
}

int main()
{
    ga_node line = GA_NODE(GA_GROUP_RN, 1);
    ga_system system = ga_system();
    system.struct_size = sizeof system;
    system.node_count = 1;
    system.nodes = &line;
    system.mass = mass;
    system.force = mass;

    ga_coefficients method;
    ga_report report;
    if (ga_coefficients_generalized_alpha(0.9, &method, &report) ||
        ga_system_validate(&system, &report)) {
        std::puts(report.message);
        return 1;
    }
    std::printf("galpha %s in C++: beta %.6f\n", ga_version(), method.beta);
    return 0;
}
